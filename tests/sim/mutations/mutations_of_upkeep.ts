import { broke } from "../world/broke.ts";
import {
  altering,
  believing,
  eachEvent,
  firstOf,
  swapping,
  walking,
  without,
} from "../world/broken_ports.ts";
import type { Mutation } from "./mutation.ts";

/** What people do with the ledger. */
export const UPKEEP_MUTATIONS: readonly Mutation[] = [
  {
    name: "recover from the first page, and call that proven",
    within: 40,
    ports: {
      recoverClient: (next) => walking(next, (pages) => firstOf(pages)),
    },
  },
  {
    name: "compare the first page, and call that everything",
    within: 40,
    ports: {
      reconcileClient: (next) => walking(next, (pages) => firstOf(pages)),
    },
  },
  {
    name: "compare claims as if they were confirmed",
    within: 40,
    ports: { reconcileLedger: believing },
  },
  {
    name: "take what is imported for news",
    within: 40,
    ports: {
      copyDriver: (next) =>
        without(
          next,
          (sql) => /^INSERT INTO cursors\s+SELECT 'imported'/.test(sql),
        ),
    },
  },
  {
    name: "leave the bodies of a person who was erased",
    within: 40,
    ports: {
      copyDriver: (next) =>
        without(next, (sql) => sql.startsWith("UPDATE events SET id")),
    },
  },
  {
    name: "forget the commitment of an erased body",
    within: 40,
    ports: {
      driver: eachEvent((row) => row[1] === "person_erased" ? null : row),
    },
  },
  {
    name: "erase the bodies of all later events as well",
    within: 40,
    ports: {
      driver: altering((statement) =>
        statement.sql.startsWith("UPDATE events SET id")
          ? {
            ...statement,
            sql: `UPDATE events SET body = ?4, salt = ?5,
              id = iif(position = ?1, ?2, id), kind = iif(position = ?1, ?3, kind)
              WHERE position >= ?1`,
          }
          : statement
      ),
    },
  },
  {
    name: "copy the database's file and not the log beside it",
    within: 40,
    onFile: true,
    ports: {
      backup: (next, database) => async (path) => {
        broke();
        await next(path);
        await Deno.copyFile(database ?? path, path);
      },
    },
  },
  {
    name: "swap refolded states in, however far the live ones are",
    within: 125,
    ports: { driver: swapping },
  },
];
