import type { Update } from "grammy/types";
import { errorText } from "../../infra/errors.ts";
import type { ChannelAccountContext } from "../contract/index.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccount } from "./config.ts";
import { failureText, readFailure } from "./errors.ts";
import { type IntakeEnv, toIntake } from "./updates.ts";

/** `retry`: not taken over; Telegram must not be told that it was. */
export type IntakeResult = "done" | "retry";

export interface IntakeHandler {
  /** Hands one group of updates to the core. Never rejects: an update that cannot be understood is logged and passed over. */
  handle(updates: readonly Update[]): Promise<IntakeResult>;
}

export function createIntakeHandler(deps: {
  readonly ctx: ChannelAccountContext<TelegramAccount>;
  readonly client: TelegramClient;
  readonly env: IntakeEnv;
  onMigrate(from: string, to: string): void;
}): IntakeHandler {
  const { ctx, client, env } = deps;
  return {
    async handle(updates) {
      let intake: ReturnType<typeof toIntake>;
      try {
        intake = toIntake(updates, env);
      } catch (err) {
        ctx.log.error("update not understood, skipped", { updateId: updates[0]?.update_id, err });
        return "done";
      }
      try {
        switch (intake.kind) {
          case "ignore":
            ctx.log.debug("update ignored", { updateId: updates[0]?.update_id, reason: intake.reason });
            return "done";
          case "migrate":
            await migrate(intake.from, intake.to);
            return "done";
          case "event":
            return (await ctx.receiveEvent(intake.event)).kind === "unavailable" ? "retry" : "done";
          case "message": {
            ctx.setStatus({ lastEventAt: ctx.now() });
            const outcome = await ctx.receive(intake.message);
            if (outcome.kind === "unavailable") return "retry";
            // A stranger's button press gets no answer: nothing goes out before the gate.
            if (intake.callbackId !== undefined && outcome.kind !== "dropped") answerCallback(intake.callbackId);
            return "done";
          }
        }
      } catch (err) {
        ctx.log.error("message not taken over, tried again", { updateId: updates[0]?.update_id, error: errorText(err) });
        return "retry";
      }
    },
  };

  function answerCallback(id: string): void {
    client.api.answerCallbackQuery({ callback_query_id: id }).catch((err: unknown) => {
      ctx.log.debug("button press not acknowledged", { reason: failureText(readFailure(err)) });
    });
  }

  async function migrate(from: string, to: string): Promise<void> {
    deps.onMigrate(from, to);
    const { config, configPath } = ctx.account;
    const group = config.groups?.[from];
    ctx.log.info("group became a supergroup", { from, to });
    if (!group || config.groups?.[to] || config.configWrites === false || !ctx.patchConfig) return;
    const patch = configPath
      .split(".")
      .concat("groups")
      .reduceRight<Record<string, unknown>>((inner, key) => ({ [key]: inner }), { [from]: null, [to]: group });
    await ctx.patchConfig(patch, `Telegram moved group ${from} to ${to}`);
  }
}
