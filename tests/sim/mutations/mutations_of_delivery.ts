import { LedgerError } from "../../../ledger/mod.ts";
import { broke } from "../world/broke.ts";
import {
  eachEvent,
  isDocumented,
  nothing,
  wrap,
} from "../world/broken_ports.ts";
import type { Mutation } from "./mutation.ts";

/** What the endpoint promises to the sender. */
export const DELIVERY_MUTATIONS: readonly Mutation[] = [
  {
    name: "answer before the commit",
    within: 10,
    ports: {
      append: (next) => (delivery) => {
        broke();
        next(delivery).catch(() => {});
        return Promise.resolve();
      },
    },
  },
  {
    name: "take a busy database's silence for done",
    within: 20,
    ports: {
      driver: (next) =>
        wrap(next, async (statements, mode) => {
          try {
            return await next.batch(statements, mode);
          } catch (error) {
            const busy = error instanceof LedgerError && error.code === "busy";
            if (!busy || mode === "read") throw error;
            broke();
            return statements.map(() => nothing);
          }
        }),
    },
  },
  {
    name: "give a delivery a new id when it is stored again",
    within: 20,
    ports: {
      driver: (next, { newId }) => {
        const tried = new Set<string>();
        return eachEvent((row) => {
          const id = String(row[0]);
          if (row[1] !== "webhook") return row;
          if (tried.has(id)) return [newId(), ...row.slice(1)];
          tried.add(id);
          return row;
        })(next);
      },
    },
  },
  {
    name: "let the spool forget before the ledger has it",
    within: 40,
    ports: {
      spool: (next) => {
        const drain = next.drain.bind(next);
        next.drain = (take, options) =>
          drain((records, count) => {
            broke();
            take(records, count).catch(() => {});
            return Promise.resolve();
          }, options);
        return next;
      },
    },
  },
  {
    name: "refuse what is not documented",
    within: 10,
    ports: {
      endpoint: (next) => async (request) => {
        const known = isDocumented(await request.clone().text());
        if (known) return await next(request);
        broke();
        return new Response(null, { status: 400 });
      },
    },
  },
  {
    name: "accept what is not documented, and drop it",
    within: 10,
    ports: {
      append: (next) => async (delivery) => {
        const known = isDocumented(new TextDecoder().decode(delivery.body));
        if (known) return await next(delivery);
        broke();
      },
    },
  },
  {
    name: "keep bodies as text",
    within: 60,
    ports: {
      append: (next) => (delivery) => {
        const text = new TextDecoder().decode(delivery.body);
        const body = new TextEncoder().encode(text);
        if (body.toHex() !== delivery.body.toHex()) broke();
        return next({ ...delivery, body });
      },
    },
  },
];
