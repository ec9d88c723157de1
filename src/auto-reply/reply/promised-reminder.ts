/** A future "I" that will speak up: what only a scheduled job can make true. */
const PROMISES = [
  /\b(?:I['’]?ll|I will|I['’]?m going to|I am going to)\s+(?:\w+\s+)?remind\b/i,
  /\b(?:I['’]?ll|I will)\s+(?:set|create|schedule|add)\s+(?:you\s+)?(?:a|the|your)\s+reminder\b/i,
  /\b(?:I['’]?ve|I have)\s+(?:set|created|scheduled|added)\s+(?:you\s+)?(?:a|the|your)\s+reminder\b/i,
  /\b(?:I['’]?ll|I will)\s+(?:ping|notify|alert|message)\s+you\b/i,
  /(?:我会|我將|我将|我到时|到时候?我?会?|到時候?我?會?|我會)[^。！？\n]{0,12}提醒(?:你|您)/,
];
const CODE = /```[\s\S]*?(?:```|(?![\s\S]))|`[^`\n]*`|^>.*$/gm;

export const NO_REMINDER_NOTE = "⏰ Nothing is scheduled for this: no reminder will come by itself. Ask for it to be scheduled if you want one.";

/** Whether a text promises to come back at some time. Quotes and code are not the model's own words. */
export function promisesReminder(text: string): boolean {
  const own = text.replace(CODE, "");
  return PROMISES.some((promise) => promise.test(own));
}
