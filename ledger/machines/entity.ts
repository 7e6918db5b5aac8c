/** What the service knows by an id and the ledger keeps a state of. */
export type Entity = "order" | "user";

/** Both, in the order in which they are read. */
export const ENTITIES: readonly Entity[] = ["order", "user"];
