import { pollerSchema } from "./poller/schema.ts";
import { projectionSchema } from "./projection/schema.ts";
import type { Migration } from "./store/migrate.ts";
import { storeSchema } from "./store/schema.ts";

/** Every step from an empty database to the schema of this version. */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [...storeSchema, ...projectionSchema, ...pollerSchema],
  },
];
