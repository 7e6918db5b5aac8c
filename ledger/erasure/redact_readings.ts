import { readPrimary } from "../store/driver/read_primary.ts";
import type { Entity } from "../entity.ts";
import type { Reading } from "../polling/recording/readings.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  erasedOrders,
  selectErasedOrders,
} from "../store/tables/erasure/erased_orders.ts";
import { readErasedNames } from "./erased_names.ts";
import { redactReading } from "./redact_event.ts";

/**
 * Takes out of readings what was erased: of an erased order only what is kept
 * is recorded, and of an erased user nothing, until that user comes back.
 *
 * @param entity What the readings are about.
 * @param readings What the service says now.
 */
export async function redactReadings(
  driver: Driver,
  entity: Entity,
  readings: readonly Reading[],
): Promise<Reading[]> {
  const ids = readings.map(({ observation }) => observation.entityId);
  if (entity === "user") {
    const erased = await readErasedNames(driver, "user", ids);
    return readings.filter(({ observation }) => {
      const name = erased.get(observation.entityId);
      return name === undefined || name.returnedAt !== null;
    });
  }
  const [rows] = await readPrimary(driver, [selectErasedOrders(ids)]);
  const orders = erasedOrders(rows);
  return readings.map((reading) => {
    const { event, observation } = reading;
    const order = orders.get(observation.entityId);
    if (order === undefined || event?.kind !== "order_snapshot") return reading;
    const { differs } = order;
    const redacted = redactReading(event, { names: order, differs });
    const { digest } = redacted;
    return {
      ...reading,
      event: redacted,
      observation: { ...observation, digest },
    };
  });
}
