/** Reading what the gateway answered: foreign data of known shape, shown and never acted on. */
export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});

export const rowsOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

export const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

export const textOf = (value: unknown, otherwise = ""): string => (typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : otherwise);

export const numberOf = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
