import type { Entity } from "../entity.ts";
import type { Machine } from "./machine.ts";
import { orderMachine } from "./order_machine.ts";

/** The state machines of orders and of users, in the order of reading. */
export const MACHINES: Readonly<Record<Entity, readonly Machine[]>> = {
  order: [orderMachine],
  user: [],
};
