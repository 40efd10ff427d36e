"""Which language model answers.

Any OpenAI-compatible endpoint, or the rule-based responder when none is configured.
"""

from pipecat.processors.frame_processor import FrameProcessor
from pydantic import SecretStr
from pydantic_settings import SettingsConfigDict

from hotmem.settings import ENV_FILE, Variables
from pipelines.responder import Responder


class ModelSettings(Variables):
    """The endpoint, from HOTMEM_LLM_BASE_URL, HOTMEM_LLM_MODEL and HOTMEM_LLM_API_KEY or a .env file."""

    model_config = SettingsConfigDict(env_prefix="HOTMEM_LLM_", env_file=ENV_FILE, extra="ignore")

    base_url: str = ""
    model: str = ""
    api_key: SecretStr = SecretStr("")

    @property
    def name(self) -> str:
        """What is shown as the one who answers."""
        return (
            self.model
            if self.base_url and self.model
            else "rule-based responder, not a language model"
        )


def build_llm(settings: ModelSettings) -> FrameProcessor:
    """The service that answers; the rule-based responder unless both address and model are set."""
    if not (settings.base_url and settings.model):
        return Responder()
    from pipecat.services.openai.llm import OpenAILLMService

    key = settings.api_key.get_secret_value() or "none"
    return OpenAILLMService(
        api_key=key,
        base_url=settings.base_url,
        settings=OpenAILLMService.Settings(model=settings.model),
    )
