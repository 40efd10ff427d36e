"""Cues of usage detection: example texts, compared by embedding, and patterns.

Each table has the kinds of a question, of a reply's clause or of an item, with example texts; the
feature of a kind is the cosine with its most similar example.
"""

import re
from typing import Final

QUESTION_EXAMPLES: Final = {
    "advice": (
        "What should I do?",
        "Where could we go?",
        "What shall I buy?",
        "Which one should I choose?",
        "Any ideas?",
        "Should I do it?",
    ),
    "recollection": (
        "What did I tell you about it?",
        "When is my appointment?",
        "What is my name?",
        "Where did I put it?",
        "How much do I pay?",
        "Who is my doctor?",
    ),
    "world": (
        "How does it work?",
        "What is the capital of France?",
        "How many days are in a year?",
        "What does this word mean?",
    ),
    "order": ("Turn on the light.", "Set a timer.", "Set an alarm.", "Play some music."),
}
CLAUSE_EXAMPLES: Final = {
    "ignorance": (
        "I don't know that.",
        "Nobody has told me.",
        "I'm sorry, I can't help with that.",
        "I have no record of that.",
        "Could you look that up yourself?",
        "I'm not sure.",
    ),
    "advice": (
        "I would rather take something else.",
        "You could try this instead.",
        "Better not, it would be bad for you.",
        "How about something without it?",
        "That would suit you well.",
    ),
    "courtesy": (
        "You're welcome!",
        "Good night!",
        "Hello! How can I help?",
        "Yes, I can hear you.",
    ),
    "care": (
        "Take it easy, one step at a time.",
        "I'll keep it short.",
        "I'm sorry to hear that.",
        "You're in good hands.",
    ),
    "attribution": ("You told me so.", "As you said.", "You mentioned that before."),
}
ITEM_EXAMPLES: Final = {
    "need": (
        "I am allergic to nuts.",
        "I can't stand it.",
        "I am afraid of it.",
        "I have a health problem.",
        "I don't eat that.",
    ),
    "fact": ("My sister lives in Porto.", "My appointment is on Monday.", "The code is 4711."),
    "manner": (
        "Please keep your answers short.",
        "I like it when you joke.",
        "I feel very sad today.",
    ),
}

NEGATION: Final = re.compile(
    r"\b(?:not|no|never|without|nobody|none|neither|cannot|nothing|stop(?:ped)?|quit"
    r"|cancelled|any ?more|no longer|hates?|dislikes?|avoids?)\b|n't\b",
    re.IGNORECASE,
)
IGNORANCE: Final = re.compile(
    r"\b(?:(?:do|did)(?:n't| not) (?:know|remember|recall|have)|no idea|not sure"
    r"|no (?:information|record|note|access|memory)|nothing about"
    r"|(?:can|could)(?:not|n't| not) (?:tell|say|find|see|help|give|remember|hear|look)"
    r"|never (?:told|mentioned|said)|nobody has told"
    r"|(?:have|'ve|has)(?:n't| not| never) (?:told|mentioned|said|got)|i'd love to know"
    r"|unfortunately|(?:i'm )?afraid i|sorry)\b",
    re.IGNORECASE,
)
ATTRIBUTION: Final = re.compile(
    r"\b(?:you (?:said|told|mentioned|wrote|once)|you've (?:said|told|mentioned)|as you"
    r"|from what you|if i (?:recall|remember)|according to"
    r"|i (?:believe|gather|think))\b",
    re.IGNORECASE,
)
ADVICE_REQUEST: Final = re.compile(
    r"\b(?:should|shall|could|what can|where can|suggest|recommend|ideas?|tips?|advice|any"
    r"|plan|let's|give me|make me|recipe|good|need|teach|help"
    r"|how can|how do i|tell me a|pick|best)\b",
    re.IGNORECASE,
)
QUESTION: Final = re.compile(
    r"\?|^(?:what|when|where|who|which|how|do|is|did|was|are|why)\b", re.IGNORECASE
)
WHY: Final = re.compile(r"why|how come", re.IGNORECASE)
FIRST_PERSON: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|we|us|our)\b", re.IGNORECASE)
SECOND_PERSON: Final = re.compile(
    r"\b(?:you|your|yours|you're|you've|you'll|you'd)\b", re.IGNORECASE
)
PROPOSAL: Final = re.compile(
    r"\b(?:i'd|i would|would|could|might|maybe|perhaps|how about|what about|why not|let's|try"
    r"|take|get|put|don't|avoid|instead|better|rather"
    r"|without|no|can)\b",
    re.IGNORECASE,
)
