"""The LLM service: an OpenAI-compatible endpoint, else the rule-based responder."""

from pipecat.processors.frame_processor import FrameProcessor
from pydantic import SecretStr
from pydantic_settings import SettingsConfigDict

from hotmem.settings import ENV_FILE, Variables
from pipelines.responder import Responder


class ModelSettings(Variables):
    """The endpoint, from the environment or a .env file.

    Variables: HOTMEM_LLM_BASE_URL, HOTMEM_LLM_MODEL and HOTMEM_LLM_API_KEY.
    """

    model_config = SettingsConfigDict(env_prefix="HOTMEM_LLM_", env_file=ENV_FILE, extra="ignore")

    base_url: str = ""
    model: str = ""
    api_key: SecretStr = SecretStr("")

    @property
    def name(self) -> str:
        """Display name."""
        return (
            self.model
            if self.base_url and self.model
            else "rule-based responder, not a language model"
        )


def build_llm(settings: ModelSettings) -> FrameProcessor:
    """The LLM service; the rule-based responder unless both base URL and model are set."""
    if not (settings.base_url and settings.model):
        return Responder()
    from pipecat.services.openai.llm import OpenAILLMService

    key = settings.api_key.get_secret_value() or "none"
    return OpenAILLMService(
        api_key=key,
        base_url=settings.base_url,
        settings=OpenAILLMService.Settings(model=settings.model),
    )
