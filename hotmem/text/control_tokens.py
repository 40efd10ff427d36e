"""Control tokens of language models, as of 2025.

Tokens in angle brackets are listed for tests only: escaping breaks every tag.
"""

from typing import Final

ANGLE_BRACKET_TOKENS: Final = (
    # ChatML, Qwen, Phi, Kimi
    "<|im_start|>", "<|im_end|>", "<|im_sep|>", "<|im_middle|>", "<|im_user|>", "<|im_assistant|>",
    "<|im_system|>",
    # Llama 3
    "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
    "<|eot_id|>", "<|eom_id|>", "<|python_tag|>",
    "<|header_start|>", "<|header_end|>", "<|eot|>",  # Llama 4
    "<s>", "</s>", "<<SYS>>", "<</SYS>>", "<unk>", "<pad>", "<mask>",  # Llama 2, Mistral, encoders
    # Gemma
    "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<start_function_call>",
    "<end_function_call>",
    # Phi, GLM, Zephyr, Falcon
    "<|user|>", "<|assistant|>", "<|system|>", "<|end|>", "<|tool|>", "<|observation|>",
    "<|start|>", "<|message|>", "<|channel|>", "<|call|>", "<|return|>", "<|constrain|>",  # gpt-oss
    # GPT, StarCoder, LFM
    "<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>",
    "<|startoftext|>",
    # DeepSeek
    "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>",
    "<｜tool▁calls▁begin｜>",
    # Command R
    "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>",
    "<BOS_TOKEN>", "<EOS_TOKEN>",
    # reasoning, tools
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>",
    "<tools>", "<function_calls>",
    # others
    "<extra_id_0>", "<extra_id_1>", "<|reserved_special_token_0|>", "<reserved_106>", "<Human>",
    "<Assistant>", "<human>:", "<bot>:",
)  # fmt: skip

SQUARE_BRACKET_NAMES: Final = (
    # Mistral
    "INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT",
    "TOOL_DESCRIPTION", "ARGS", "CALL_ID",
    # Mistral
    "IMG", "IMG_BREAK", "IMG_END", "AUDIO", "BEGIN_AUDIO", "THINK", "PREFIX", "SUFFIX", "MIDDLE",
    "MODEL_SETTINGS", "CONTROL",
    # GLM, encoders
    "gMASK", "sMASK", "MASK", "sop", "eop", "CLS", "SEP", "PAD", "UNK", "BOS", "EOS", "SYS",
    "SYSTEM", "USER", "ASSISTANT", "EOT",
    "MEMORY", "END OF MEMORY",  # the fence of the context block
)  # fmt: skip
"""Names of tokens in square brackets; the closing token has a slash."""

TURN_ROLES: Final = (
    "human",
    "assistant",
    "system",
    "user",
    "developer",
    "instruction",
    "instructions",
    "response",
    "question",
    "answer",
    "tool",
)
"""Words that start a turn in plain-text prompt formats: "Human: ...", "### Instruction: ..."."""
