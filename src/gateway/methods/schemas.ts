import { z } from "zod";

export const nes = z.string().min(1);
export const empty = z.strictObject({});
