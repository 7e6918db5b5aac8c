import type { ReleaseByHand } from "../../../ledger/mod.ts";
import type { RecordedEvent } from "../../../ledger/testing/mod.ts";
import type { World } from "../world/world.ts";
import { rows } from "./disagreements.ts";

/** What a person did about an order. */
export interface ByHand {
  /** What the person did. */
  readonly outcome: ReleaseByHand["outcome"];
  /** Reference of what was handed out; null where none was named. */
  readonly reference: string | null;
  readonly position: number;
}

const decoder = new TextDecoder();

/** What persons did, by the events alone. */
export class HandWatch {
  readonly #recorded = new Map<string, ByHand[]>();

  /** Takes an event, whatever it is of. */
  take({ kind, orderId, body, position }: RecordedEvent): void {
    if (kind !== "order_released" || orderId === null) return;
    const { outcome, for: reference = null } = JSON.parse(
      decoder.decode(body ?? new Uint8Array()),
    );
    const all = this.#recorded.get(orderId) ?? [];
    this.#recorded.set(orderId, all);
    all.push({ outcome, reference, position });
  }

  /**
   * What a person had done about an order by then: of several clerks the one
   * of whom the ledger learnt first.
   *
   * @param position Of the last event that counts.
   */
  by(orderId: string, position: number = Infinity): ByHand | null {
    const [first] = this.#recorded.get(orderId) ?? [];
    return first === undefined || first.position > position ? null : first;
  }
}

/** Orders that a person delivered or refunded, as the ledger has them. */
export async function ordersByHand(world: World): Promise<Set<string>> {
  const found = await rows(world, "SELECT order_id FROM hand_releases");
  return new Set(found.map(([id]) => String(id)));
}
