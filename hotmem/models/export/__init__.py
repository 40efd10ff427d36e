"""Export of the default encoder: sentence-transformers weights → int8 ONNX, without torch.

bert ─▶ calibration ─▶ graph
"""

from pathlib import Path
from typing import Final

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from hotmem.models.export.graph import Bert, balance, int8_model

CALIBRATION_TEXTS: Final = (
    "I moved here in the spring of 2019, and honestly I haven't looked back since.",
    "What was the name of that restaurant we talked about last week?",
    "My sister's wedding is on the 14th of June, so I need to book the flights before Friday!",
    "no no, I said the blue one, not the green one",
    "Sounds great! I'd love to hear more about it. How long have you been painting, "
    "and do you sell any of your work?",
    "Remind me to call the dentist tomorrow at half past nine.",
    "We had to take the dog to the vet because she ate something in the park, but she's fine now.",
    "Who told you that?",
    "I'm so sorry to hear that. Losing a job is hard, especially with two kids and a mortgage. "
    "Have you talked to anyone about it?",
    "The doctor says my blood pressure is too high: 150 over 95, he wants me to cut down on salt "
    "and coffee.",
    "Yeah, I guess so.",
    "When did my brother start working at the hospital in Leeds?",
    "She plays the violin in the city orchestra and teaches chemistry at the university.",
    "Thanks! That really means a lot to me. I've been training for the marathon since January; "
    "my goal is to finish in under four hours.",
    "How much did I pay for the bicycle?",
    "Which film did we watch after the concert, and did I like it?",
    "I used to hate mushrooms, now I cook them almost every day with garlic, butter and a bit of "
    "thyme.",
    "Okay, so the meeting with the bank went badly. They want another 2,500 euros up front, which "
    "we simply don't have.",
    "Happy birthday, Daniel! Did you get the parcel I sent you?",
    "Where are we going on holiday this summer?",
)
"""Synthetic turns and questions to calibrate activation ranges on."""


PROJECTION: Final = "projection"
"""Key of the projection in a trained file; the other tensors are low-rank changes, see `Bert.load`.
"""


def export(weights: Path, target: Path, trained: Path | None = None) -> None:
    """Export the model in folder `weights` as int8 ONNX; see `int8_model` for inputs and outputs.

    Args:
        weights: Folder of the published model.
        target: File to write.
        trained: File with changes to the published weights, and perhaps a projection, by `python -m
            eval encoder train` or `python -m eval reader train`; None for neither.

    Raises:
        OSError: If a file is missing or cannot be written.
    """
    changes = load_file(trained) if trained else {}
    projection = changes.pop(PROJECTION).astype(np.float32) if PROJECTION in changes else None
    tokenizer = Tokenizer.from_file(str(weights / "tokenizer.json"))
    tokenizer.no_padding()
    bert = balance(
        Bert.load(weights, changes),
        [np.array(tokenizer.encode(text).ids, dtype=np.int64) for text in CALIBRATION_TEXTS],
    )
    target.write_bytes(int8_model(bert, projection).SerializeToString())
