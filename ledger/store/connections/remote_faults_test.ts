import assert from "node:assert/strict";
import { failsWith } from "../../testing/fails_with.ts";
import { EventLog } from "../events.ts";
import { openDriver } from "../../thread/open_driver.ts";
import { remoteDriver } from "./remote_driver.ts";
import { patient } from "../../testing/patient.ts";
import { sqldCredentials } from "../../testing/sqld_credentials.ts";
import { sqldAvailable, startSqld } from "../../testing/sqld_test_server.ts";
import {
  prepare,
  storedEvents,
  storedIds,
  testEvent,
  testEvents,
} from "../../testing/test_events.ts";
import { temporaryFolder } from "../../../tests/kit/temporary_folder.ts";
import { until } from "../../../tests/kit/until.ts";

function sqldTest(name: string, test: (folder: string) => Promise<void>): void {
  Deno.test({
    name,
    ignore: !sqldAvailable,
    fn: async () => {
      await using folder = await temporaryFolder();
      await test(folder.path);
    },
  });
}

const ids = (numbers: readonly number[]) =>
  numbers.map((number) => testEvent(number).eventId);

/** Loses every n-th request or answer that carries a batch. */
function lossy(
  what: "request" | "answer" | "half the answer",
  every: number,
): typeof fetch {
  let count = 0;
  return async (input, init) => {
    const request = input as Request;
    const lose = request.method === "POST" && count++ % every === 0;
    if (lose && what === "request") throw new TypeError("connection reset");
    const answer = await fetch(request, init);
    if (!lose) return answer;
    const bytes = await answer.bytes();
    if (what === "answer") throw new TypeError("connection reset");
    return new Response(bytes.slice(0, bytes.length >> 1), answer);
  };
}

for (const what of ["request", "answer", "half the answer"] as const) {
  sqldTest(
    `a lost ${what} is asked again, and nothing doubles`,
    async (folder) => {
      await using server = await startSqld({ directory: folder });
      const steady = await openDriver({ url: server.url });
      await prepare(steady);
      await steady.close();
      const driver = remoteDriver({
        url: server.url,
        fetch: lossy(what, 2),
      });
      const log = new EventLog(driver);
      for (const event of testEvents(10)) await log.append([event]);
      await driver.close();
      assert.deepEqual(
        await storedIds(server.url),
        testEvents(10).map(({ eventId }) => eventId),
      );
    },
  );
}

sqldTest(
  "a batch whose answer is lost says so, for it may be stored",
  async (folder) => {
    await using server = await startSqld({ directory: folder });
    const driver = remoteDriver({
      url: server.url,
      fetch: lossy("answer", 1),
    });
    await assert.rejects(
      driver.batch([{ sql: "CREATE TABLE t (a)", args: [] }], "write"),
      failsWith("unreachable"),
    );
    await driver.close();
  },
);

sqldTest("a batch that fails ends no other", async (folder) => {
  await using server = await startSqld({ directory: folder });
  const failed = Promise.withResolvers<void>();
  let requests = 0;
  const driver = remoteDriver({
    url: server.url,
    ...patient,
    fetch: async (input, init) => {
      if (requests++ === 0) await failed.promise;
      return await fetch(input, init);
    },
  });
  const slow = driver.batch([{ sql: "SELECT 1", args: [] }], "read");
  await assert.rejects(
    driver.batch([{ sql: "NO SQL", args: [] }], "write"),
    failsWith("failed"),
  );
  failed.resolve();
  assert.deepEqual((await slow)[0]?.rows, [[1]]);
  await driver.close();
});

sqldTest("a server that is slow is given up", async (folder) => {
  await using server = await startSqld({ directory: folder });
  const driver = remoteDriver({
    url: server.url,
    timeoutMs: 50,
    fetch: async (input, init) => {
      await new Promise((resolve) => setTimeout(resolve, 80));
      return await fetch(input, init);
    },
  });
  await assert.rejects(
    driver.batch([{ sql: "SELECT 1", args: [] }], "read"),
    failsWith("unreachable"),
  );
  await driver.close();
});

/** A clock by which every failure lasts too long to ask again. */
function inLeaps(): () => number {
  let now = 0;
  return () => now += 60_000;
}

sqldTest(
  "a killed server loses nothing it answered, and is found again",
  async (folder) => {
    const answered: number[] = [];
    const server = await startSqld({ directory: folder });
    const driver = await openDriver({ url: server.url });
    await prepare(driver);
    const log = new EventLog(driver, { now: inLeaps() });
    let failed = 0;
    const writing = (async () => {
      for (let number = 0; failed === 0; number++) {
        try {
          await log.append([testEvent(number)]);
          answered.push(number);
        } catch (error) {
          failsWith("unreachable")(error);
          failed++;
        }
      }
    })();
    await until(() => answered.length >= 3 || failed > 0);
    await server.stop({ hard: true });
    await writing;
    assert.ok(answered.length >= 3);
    await using again = await startSqld({
      directory: folder,
      port: server.port,
    });
    // The append that failed may have been stored; asked again, it is once.
    await log.append([testEvent(answered.length)]);
    await driver.close();
    assert.deepEqual(
      await storedIds(again.url),
      ids([...answered, answered.length]),
    );
  },
);

sqldTest(
  "a replica that is behind shows an earlier state, and catches up",
  async (folder) => {
    await using primary = await startSqld({ directory: `${folder}/primary` });
    await using replica = await startSqld({
      directory: `${folder}/replica`,
      primary,
    });
    const writer = await openDriver({ url: primary.url });
    await prepare(writer);
    const reader = await openDriver({ url: replica.url });
    await prepare(reader);
    const log = new EventLog(writer);
    const behind = new EventLog(reader);
    const caughtUp = (count: number) =>
      until(async () => {
        // A new replica may not even have the tables.
        const events = await storedEvents(reader, "read")
          .catch((error) => failsWith("failed")(error) ? [] : []);
        const expected = testEvents(events.length);
        assert.deepEqual(
          events.map(({ eventId }) => eventId),
          expected.map(({ eventId }) => eventId),
        );
        return events.length === count;
      }, `the replica has ${count} events`);
    for (const event of testEvents(30)) await log.append([event]);
    await caughtUp(30);
    // The same delivery, once through each: stored once.
    await Promise.all([
      log.append([testEvent(30)]),
      behind.append([testEvent(30)]),
    ]);
    await caughtUp(31);
    await primary.stop({ hard: true });
    await caughtUp(31);
    const hasty = remoteDriver({ url: replica.url, timeoutMs: 300 });
    const impatient = new EventLog(hasty, { now: inLeaps() });
    await assert.rejects(
      impatient.append([testEvent(31)]),
      failsWith("unreachable"),
    );
    await writer.close();
    await reader.close();
  },
);

sqldTest(
  "a wrong token is refused in clear words, without the token",
  async (folder) => {
    const { jwtKey, authToken } = await sqldCredentials();
    const stranger = await sqldCredentials();
    await using server = await startSqld({ directory: folder, jwtKey });
    const driver = await openDriver({ url: server.url, authToken });
    await prepare(driver);
    await driver.close();
    for (const wrong of [stranger.authToken, "s3cret", undefined]) {
      await assert.rejects(
        openDriver({
          url: server.url,
          ...(wrong === undefined ? {} : { authToken: wrong }),
        }),
        (error) => {
          failsWith("unauthorised")(error);
          const shown = Deno.inspect(error) + JSON.stringify(error);
          assert.ok(!shown.includes(wrong ?? authToken), shown);
          return true;
        },
      );
    }
  },
);

Deno.test("openDriver() fails with unreachable when there is no server", async () => {
  // Of a service that no machine offers any more.
  const port = 9;
  await assert.rejects(
    openDriver({
      url: `http://127.0.0.1:${port}/?authToken=s3cret`,
    }),
    (error) => {
      failsWith("unreachable")(error);
      assert.ok(!Deno.inspect(error).includes("s3cret"));
      return true;
    },
  );
});
