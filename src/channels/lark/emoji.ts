/** The platform's reactions have names; these are the usual emoji for them. */
const BY_EMOJI: Readonly<Record<string, string>> = {
  "👍": "THUMBSUP", "👎": "ThumbsDown", "👌": "OK", "🙏": "THANKS", "💪": "MUSCLE", "👏": "APPLAUSE", "🤝": "SHAKE", "🫡": "SALUTE", "👋": "WAVE", "🫰": "FINGERHEART", "👊": "FISTBUMP",
  "✅": "DONE", "✔️": "CheckMark", "❌": "CrossMark", "❤️": "HEART", "❤": "HEART", "💔": "HEARTBROKEN", "🔥": "Fire", "🎉": "PARTY", "🏆": "Trophy", "💯": "Hundred", "🌹": "ROSE", "🎁": "GIFT", "🍺": "BEER", "🍻": "BEER", "🎂": "CAKE", "☕": "Coffee",
  "😀": "SMILE", "😊": "BLUSH", "😄": "LAUGH", "😂": "LOL", "😏": "SMIRK", "😍": "OBSESSED", "😘": "KISS", "😉": "WINK", "🤔": "THINKING", "😭": "SOB", "😢": "CRY", "😮": "WOW", "😱": "TERROR", "😳": "SHOCKED", "😡": "ANGRY",
  "🥱": "YAWN", "😴": "SLEEP", "😨": "PETRIFIED", "😅": "SWEAT", "🤗": "HUG", "🤡": "ClownFace", "🤦": "FACEPALM", "🤷": "Shrug", "💩": "POOP", "💣": "BOMB", "💀": "SKULL", "👀": "GLANCE", "📌": "Pin", "⏰": "Alarm", "⏳": "OneSecond", "⚡": "OnIt", "👨‍💻": "OnIt", "🎵": "Music", "🌧": "WAIL",
};
const BY_NAME = new Map(Object.entries(BY_EMOJI).map(([emoji, name]) => [name, emoji]));

/** `THUMBSUP` for 👍; names pass as they are. undefined for an emoji that the platform has not. */
export function reactionName(emoji: string): string | undefined {
  const text = emoji.trim();
  const known = BY_EMOJI[text] ?? BY_EMOJI[text.replaceAll("\ufe0f", "")];
  if (known !== undefined) return known;
  return /^[A-Za-z0-9_]{2,40}$/.test(text) ? text : undefined;
}

export const reactionEmoji = (name: string): string => BY_NAME.get(name) ?? name;
