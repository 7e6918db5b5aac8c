/** How far something got, so that a restart goes on. */
import type { Driver, Statement } from "./driver/driver.ts";
import { select, statement } from "./database.ts";

/** Reads stored progress, plain JSON; null when there is none. */
export async function readSweep<State>(
  driver: Driver,
  name: string,
): Promise<State | null> {
  const sql = "SELECT value FROM cursors WHERE name = ?";
  const [[text] = []] = await select(driver, sql, name);
  return typeof text === "string" ? JSON.parse(text) as State : null;
}

/** The statement that stores progress, to go into the batch that makes it. */
export function writeSweep(
  name: string,
  state: unknown,
  nowMs: number,
): Statement {
  return statement(
    `INSERT INTO cursors (name, value, updated_at) VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET
        value = excluded.value, updated_at = excluded.updated_at`,
    ...[name, JSON.stringify(state), Math.floor(nowMs)],
  );
}
