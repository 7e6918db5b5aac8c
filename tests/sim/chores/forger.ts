import { LONGEST_IDENTIFIER } from "../../../core/wire/objects.ts";
import { shop } from "./actions.ts";
import { clickOfCrowd, type World } from "../world/world.ts";
import type { SandboxOrder } from "../../../sandbox/mod.ts";
import type { Dice } from "../world/dice.ts";

/** Something that a forger posts to the endpoint. */
type Forgery = (world: World, dice: Dice) => void;

const encoder = new TextEncoder();

/** Beginning of click ids under which one session was made. */
export const ownClickId = "only-";

/** What a forger does, and how often. */
const FORGERIES: readonly (readonly [number, Forgery])[] = [
  [2, bait],
  [5, contest],
  [4, nameSessions],
  [2, flood],
  [3, nameCrowd],
  [2, nameRefused],
  [2, pretendLife],
  [3, claimUser],
];

/** Lets a forger do something. */
export function forge(world: World, dice: Dice): void {
  const baited = [...world.journal.sessions.values()].some(({ clickId }) =>
    clickId.startsWith(ownClickId)
  );
  (baited ? dice.weighted(FORGERIES) : bait)(world, dice);
}

/** Somebody buys under a click id of their own, for the forger to spoil. */
function bait(world: World, dice: Dice): void {
  shop(world, dice, `${ownClickId}${dice.int(1, 1e9)}`);
}

/** Another end than the true one, as if goods had to be kept, or given. */
export function contest(world: World, dice: Dice): void {
  const order = anyOrder(world, dice);
  if (order === null) return;
  const ends = ["order_complete", "order_failed", "order_cancelled"];
  world.journal.count("forged contest");
  claim(world, order, { type: dice.pick(ends) });
}

/**
 * Names sessions that others made, and sixteen that nobody made, so that the
 * true one is pushed out.
 */
export function nameSessions(world: World, dice: Dice): void {
  const order = anyOrder(world, dice);
  if (order === null) return;
  world.journal.count("forged sessions");
  const others = [...world.journal.sessions.keys()].slice(-3);
  const low = dice.chance(0.5) ? "0" : "z";
  const invented = Array.from(
    { length: 16 },
    (_, at) => `${low}0000000-${at.toString(16)}-${dice.int(0, 1e9)}`,
  );
  const type = dice.pick(["payment_started", "order_complete"]);
  for (const hpp_session_id of [...others, ...invented]) {
    claim(world, order, { type, hpp_session_id });
  }
}

/** Invented orders and users, more than real ones. */
export function flood(world: World, dice: Dice): void {
  world.journal.count("forged flood");
  for (let left = dice.int(20, 60); left > 0; left--) {
    const id = `01FLOOD${dice.int(1e9, 9e9)}`;
    post(
      world,
      dice.chance(0.7)
        ? { type: "order_complete", click_id: "", order: { id } }
        : { type: "login", click_id: "", user: { user_id: id } },
    );
  }
}

/** An order whose id is the click id of very many. */
function nameCrowd(world: World, dice: Dice): void {
  if (world.plan.attack.crowd === 0) return;
  world.journal.count("forged crowd");
  post(world, {
    type: dice.pick(["order_complete", "payment_started"]),
    click_id: "",
    order: { id: clickOfCrowd },
  });
}

/** An order or user by whose id the service refuses every search. */
export function nameRefused(world: World, dice: Dice): void {
  if ((world.plan.attack.lasting.refusedId ?? 0) === 0) return;
  for (let tries = 0; tries < 400; tries++) {
    const id = `../../etc/${dice.int(1, 1e9)}`;
    if (!world.sandbox.refuses(id)) continue;
    world.journal.count("forged refused id");
    post(
      world,
      dice.chance(0.6)
        ? { type: "order_complete", click_id: "", order: { id } }
        : { type: "registration", click_id: "", user: { user_id: id } },
    );
    return;
  }
}

/** Logins of nobody, for an hour, as if delivery were alive. */
export function pretendLife(world: World, dice: Dice): void {
  world.journal.count("forged life");
  for (let minute = 0; minute < 60; minute += dice.int(2, 5)) {
    const user_id = `01NOBODY${dice.int(1e9, 9e9)}`;
    world.clock.setTimer(minute * 60_000, () => {
      post(world, { type: "login", click_id: "", user: { user_id } });
    });
  }
}

/** The webhook of an order that is long final, once a minute. */
export function repeatFinal(
  world: World,
  _dice: Dice,
  final: SandboxOrder,
  minutes: number,
): void {
  world.journal.count("forged repeat");
  for (let minute = 0; minute < minutes; minute++) {
    world.clock.setTimer(minute * 60_000, () => {
      claim(world, final, { type: "order_complete" });
    });
  }
}

/**
 * Cheap orders of the forger's own, one every four minutes, and the webhooks
 * that the service would send about them.
 */
export function buyCheaply(
  world: World,
  _dice: Dice,
  _final: SandboxOrder,
  minutes: number,
): void {
  const { sandbox, clock } = world;
  world.journal.count("forged announcement");
  for (let minute = 0; minute < minutes; minute += 4) {
    clock.setTimer(minute * 60_000, () => {
      const order = sandbox.createOrder();
      sandbox.advance(order.orderId, "pay");
      claim(world, order, { type: "payment_started" });
      sandbox.advance(order.orderId, "fail");
      claim(world, order, { type: "order_failed" });
    });
  }
}

/**
 * A webhook of a true order, or of an invented one, of which some identifiers
 * are longer than one may be.
 */
export function nameAtLength(world: World, dice: Dice): void {
  const order = anyOrder(world, dice);
  const invented = `01LONG${dice.int(1e9, 9e9)}`;
  const longer = (id: string) =>
    dice.chance(0.5)
      ? invented.padEnd(LONGEST_IDENTIFIER + dice.int(1, 3_000), "x")
      : id;
  world.journal.count("forged long id");
  post(world, {
    type: dice.pick(["payment_started", "order_complete", "login"]),
    click_id: longer(order?.clickId ?? invented),
    hpp_session_id: longer(invented),
    user: { user_id: longer(order?.userId ?? invented) },
    order: {
      id: longer(`${order?.orderId ?? invented}L`),
      external_order_id: longer(invented),
    },
  });
}

/** A verification of a true user that the service never made. */
function claimUser(world: World, dice: Dice): void {
  const users = world.sandbox.users();
  if (users.length === 0) return;
  const { userId } = dice.pick(users);
  const state = dice.pick(["success", "failed", "retry"]);
  world.journal.count("forged user");
  post(world, {
    type: "verify_success",
    click_id: "",
    user: {
      user_id: userId,
      verification_status: { lkyc: { state }, fkyc: { state } },
    },
  });
}

function anyOrder(
  { sandbox, journal }: World,
  dice: Dice,
): SandboxOrder | null {
  const baits = [...journal.sessions.values()].flatMap(({ orderId }) =>
    sandbox.order(orderId) ?? []
  );
  if (baits.length > 0 && dice.chance(0.5)) return dice.pick(baits);
  const orders = sandbox.orders();
  const final = orders.filter(({ status }) =>
    ["success", "failed", "cancelled"].includes(status)
  );
  const among = final.length > 0 && dice.chance(0.8) ? final : orders;
  return among.length === 0 ? null : dice.pick(among);
}

/** A webhook about a real order, with what the forger says laid over. */
function claim(
  world: World,
  order: SandboxOrder,
  saying: Readonly<Record<string, unknown>>,
): void {
  post(world, {
    click_id: order.clickId,
    order: {
      id: order.orderId,
      base: order.commodity,
      base_amount: order.cryptoAmount,
      quote: order.currency,
      quote_amount: "9999.00",
      address: order.address,
    },
    ...saying,
  });
}

/** Posts to the endpoint directly: a forger does not need the service. */
function post(world: World, body: Readonly<Record<string, unknown>>): void {
  world.background(world.post(encoder.encode(JSON.stringify(body))));
}
