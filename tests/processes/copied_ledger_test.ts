import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { sqldCredentials } from "../../ledger/testing/sqld_credentials.ts";
import {
  sqldAvailable,
  startSqld,
} from "../../ledger/testing/sqld_test_server.ts";
import { testEvents } from "../../ledger/testing/test_events.ts";
import { cli } from "../kit/cli.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

Deno.test({
  name:
    "rampkit ledger copy between two servers gives each its own token, and neither the other's",
  ignore: !sqldAvailable,
  fn: async () => {
    await using folder = await temporaryFolder();
    const [from, to] = [await sqldCredentials(), await sqldCredentials()];
    await using source = await startSqld({
      directory: `${folder.path}/from`,
      jwtKey: from.jwtKey,
    });
    await using target = await startSqld({
      directory: `${folder.path}/to`,
      jwtKey: to.jwtKey,
    });
    // What each server is sent, whoever sends it.
    const sent = new Set<string | null>();
    await using listened = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request) => {
        sent.add(request.headers.get("authorization"));
        const { pathname, search } = new URL(request.url);
        return fetch(new Request(target.url + pathname + search, request));
      },
    );
    const there = `http://127.0.0.1:${listened.addr.port}`;
    {
      await using ledger = await openLedger({
        url: source.url,
        authToken: from.authToken,
        environment: "sandbox",
      });
      await ledger.append(testEvents(20));
      await ledger.project();
    }
    const env = {
      RAMPKIT_DATABASE_URL: source.url,
      RAMPKIT_DATABASE_TOKEN: from.authToken,
    };
    const copy = ["ledger", "copy", "--to", there, "--finish", "--json"];
    const without = await cli(copy, env);
    assert.equal(without.code, 1);
    assert.match(without.err, /rejects the token/);
    assert.deepEqual([...sent], [null], "the ledger's token stays there");

    sent.clear();
    const copied = await cli(copy, {
      ...env,
      RAMPKIT_COPY_TOKEN: to.authToken,
    });
    assert.equal(copied.code, 0, copied.err);
    assert.equal(JSON.parse(copied.out).events, 20);
    assert.deepEqual([...sent], [`Bearer ${to.authToken}`]);
  },
});
