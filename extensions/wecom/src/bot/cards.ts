import { z } from "zod";
import type { TemplateCard } from "../format.ts";

const MAX_KEPT = 500;

/** Cards with choices that this process has sent: what was chosen is shown in them. Source: spec channels-cn §2.2 (aibot_respond_update_msg). */
export interface SentCards {
  add(card: TemplateCard): void;
  /** The card as it looks after the choice; undefined for one that is not known. */
  chosen(taskId: string | undefined, key: string, selected: unknown): TemplateCard | undefined;
}

const button = z.looseObject({ text: z.string(), key: z.string().optional() });
const option = z.looseObject({ id: z.string() });
const choices = z.looseObject({
  task_id: z.string(), button_list: z.array(button).optional(), submit_button: z.looseObject({ text: z.string() }).optional(),
  checkbox: z.looseObject({ question_key: z.string(), option_list: z.array(option) }).optional(), select_list: z.array(z.looseObject({ question_key: z.string() })).optional(),
});
const selection = z.looseObject({ selected_item: z.array(z.looseObject({ question_key: z.string(), option_ids: z.looseObject({ option_id: z.array(z.string()) }) })) });

const SUBMITTED = "已提交";

export function createSentCards(): SentCards {
  const known = new Map<string, TemplateCard>();
  return {
    add(card) {
      const parsed = choices.safeParse(card);
      if (!parsed.success) return;
      known.set(parsed.data.task_id, card);
      const oldest = known.keys().next().value;
      if (known.size > MAX_KEPT && oldest !== undefined) known.delete(oldest);
    },
    chosen(taskId, key, selected) {
      const card = taskId === undefined ? undefined : known.get(taskId);
      return card && withChoice(card, key, selected);
    },
  };
}

/** The pressed button alone with a tick, or the selection fixed. */
function withChoice(card: TemplateCard, key: string, selected: unknown): TemplateCard | undefined {
  const { button_list: buttons, submit_button: submit, checkbox, select_list: lists } = choices.parse(card);
  const pressed = buttons?.find((one) => one.key === key);
  if (pressed) return { ...card, button_list: [{ ...pressed, text: `✓ ${pressed.text}` }] };
  if (!submit) return undefined;
  const items = selection.safeParse(selected).data?.selected_item ?? [];
  const idsOf = (question: string): readonly string[] => items.find((item) => item.question_key === question)?.option_ids.option_id ?? [];
  return {
    ...card, submit_button: { ...submit, text: SUBMITTED },
    ...(checkbox ? { checkbox: { ...checkbox, disable: true, option_list: checkbox.option_list.map((one) => ({ ...one, is_checked: idsOf(checkbox.question_key).includes(one.id) })) } } : {}),
    ...(lists ? { select_list: lists.map((list) => ({ ...list, disable: true, ...(idsOf(list.question_key)[0] === undefined ? {} : { selected_id: idsOf(list.question_key)[0] }) })) } : {}),
  };
}
