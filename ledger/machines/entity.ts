/** Both kinds of entity, in the order in which they are read. */
export const ENTITIES = ["order", "user"] as const;

/** What the service knows by an id and the ledger keeps a state of. */
export type Entity = (typeof ENTITIES)[number];
