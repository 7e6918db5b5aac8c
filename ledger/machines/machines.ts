import type { Entity } from "./transition.ts";
import { banMachine } from "./ban_machine.ts";
import type { Machine } from "./machine.ts";
import { orderMachine } from "./order_machine.ts";
import { fkycMachine, lkycMachine } from "./verification_machine.ts";

/** The state machines of orders and of users, in the order of reading. */
export const MACHINES: Readonly<Record<Entity, readonly Machine[]>> = {
  order: [orderMachine],
  user: [lkycMachine, fkycMachine, banMachine],
};
