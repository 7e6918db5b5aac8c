import assert from "node:assert/strict";
// @ts-types="@types/big.js"
import Big from "big.js";
import fc from "fast-check";
import {
  alpha2Countries,
  alpha3Countries,
  canadianProvinces,
  usStates,
} from "../core/rules/countries.ts";
import { compareDecimals, countDecimals, isDecimal } from "../core/decimal.ts";
import { toEnglishName } from "./users.ts";
import {
  production,
  resolveEnvironment,
  sandbox,
} from "../core/assets/environment.ts";
import { describeFailReason, failReasons } from "../core/assets/fail_reason.ts";
import {
  backoffMs,
  readRetryAfterMs,
  retryDelayMs,
  steadyClock,
} from "../core/waiting/waiting.ts";
import { isWalletAddress } from "../core/rules/wallet_address.ts";

Deno.test("describeFailReason() knows each documented code, and no other", () => {
  const documented: Record<string, RegExp> = {
    "4000": /could not be charged/,
    "4001": /CVV/,
    "4002": /Declined by the card issuer/,
    "4003": /Incorrect card details/,
    "4004": /Insufficient balance/,
    "4005": /Card limit exceeded/,
    "4010": /Declined by the card issuer/,
    "4011": /Card validation failed/,
    "4012": /Declined by the card issuer/,
    "4013": /risk assessment/,
    "4014": /verified identity/,
    "4015": /not received within the expected time/,
    "4016": /funds to be refunded/,
    "4017": /does not match the order amount/,
    "4018": /cancelled by the user/,
  };
  assert.deepEqual([...failReasons].sort(), Object.keys(documented).sort());
  for (const [code, meaning] of Object.entries(documented)) {
    assert.match(describeFailReason(code) ?? "", meaning);
  }
  for (const code of ["", "4006", "toString", "__proto__"]) {
    assert.equal(describeFailReason(code), null);
  }
});

Deno.test("resolveEnvironment() gives the presets, and checks addresses of one's own", () => {
  assert.equal(resolveEnvironment("production"), production);
  assert.equal(resolveEnvironment("sandbox"), sandbox);
  const { assets: _, ...own } = {
    ...sandbox,
    name: "own",
    cardsBaseUrl: "http://127.0.0.1:1//",
  };
  assert.deepEqual(resolveEnvironment(own), {
    ...own,
    cardsBaseUrl: "http://127.0.0.1:1",
    assets: "production",
  });
  for (
    const wrong of [
      "staging",
      null,
      { ...own, name: "" },
      { ...own, baseUrl: "partner.example" },
      { ...own, baseUrl: "ftp://x" },
      { ...own, widgetOrigin: undefined },
      { ...own, dashboardUrl: "https://user:pass@x" },
      { ...own, assets: "both" },
    ]
  ) {
    assert.throws(
      () => resolveEnvironment(wrong as "sandbox"),
      { name: "TypeError", message: /^Cannot resolve the environment/ },
    );
  }
});

Deno.test("alpha2Countries and alpha3Countries hold what the runtime knows as regions", () => {
  const names = new Intl.DisplayNames("en", {
    type: "region",
    fallback: "none",
  });
  for (const code of alpha2Countries) assert.ok(names.of(code), code);
  assert.equal(alpha2Countries.size, 250);
  assert.equal(alpha3Countries.size, 250);
  assert.ok(alpha3Countries.has("USA") && alpha3Countries.has("DEU"));
  assert.equal(usStates.size, 56);
  assert.equal(canadianProvinces.size, 13);
});

Deno.test("compareDecimals() orders as integers do, whatever the scale", () => {
  fc.assert(fc.property(fc.bigInt(), fc.bigInt(), fc.nat(20), (a, b, scale) => {
    const write = (n: bigint) => {
      const digits = (n < 0n ? -n : n).toString().padStart(scale + 1, "0");
      const cut = digits.length - scale;
      const fraction = scale === 0 ? "" : `.${digits.slice(cut)}`;
      return `${n < 0n ? "-" : ""}${digits.slice(0, cut)}${fraction}`;
    };
    assert.ok(isDecimal(write(a)));
    assert.equal(
      compareDecimals(write(a), write(b)),
      a < b ? -1 : a > b ? 1 : 0,
    );
  }));
  assert.throws(() => compareDecimals("1", "1e2"), RangeError);
  assert.equal(countDecimals("1"), 0);
  assert.equal(countDecimals("1.2300"), 2);
});

Deno.test("compareDecimals() agrees with big.js when the scales differ", () => {
  const near = fc.tuple(
    fc.constantFrom("", "-"),
    fc.constantFrom("0", "1", "9", "10", "99", "90071992547409931"),
    fc.constantFrom("", ".0", ".000", ".1", ".10", ".01", ".09", ".000000001"),
  ).map((parts) => parts.join(""));
  fc.assert(
    fc.property(near, near, (a, b) => {
      assert.equal(compareDecimals(a, b), new Big(a).cmp(b), `${a} ${b}`);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("toEnglishName() leaves only what the name rule allows", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (name) => {
    assert.match(toEnglishName(name), /^[A-Za-z0-9]*$/);
  }));
  assert.equal(toEnglishName("Jose\u0301"), toEnglishName("Jos\u00e9"));
  assert.equal(toEnglishName("\u738b\u5c0f\u660e"), "WangXiaoMing");
});

const addresses: readonly (readonly [string, string])[] = [
  ["ethereum", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
  ["etherlink", "0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359"],
  ["bsc", "0xFB6916095CA1DF60BB79CE92CE3EA74C37C5D359"],
  ["rootstock", "0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD"],
  ["bitcoin", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"],
  ["bitcoin", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"],
  ["bitcoin", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"],
  ["bitcoin", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"],
  ["solana", "So11111111111111111111111111111111111111112"],
  ["tezos", "tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb"],
  ["ghostnet", "tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb"],
];

Deno.test("isWalletAddress() accepts real addresses and refuses any change of length", () => {
  for (const [network, address] of addresses) {
    assert.equal(isWalletAddress(network, address), true, address);
    assert.equal(isWalletAddress(network.toUpperCase(), address), true);
    for (
      const wrong of [address.slice(0, -1), `${address}1`, ` ${address}`, ""]
    ) {
      assert.equal(
        isWalletAddress(network, wrong),
        false,
        `${network} ${wrong}`,
      );
    }
  }
});

Deno.test("isWalletAddress() sees one wrong character where there is a checksum", () => {
  for (const [network, address] of addresses) {
    if (!/^(?:bitcoin|tezos|ghostnet)$/.test(network)) continue;
    for (let at = 4; at < address.length; at++) {
      const other = address[at] === "q" ? "p" : "q";
      const wrong = address.slice(0, at) + other + address.slice(at + 1);
      assert.equal(isWalletAddress(network, wrong), false, wrong);
    }
  }
  assert.equal(
    isWalletAddress("bitcoin", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"),
    false,
  );
  assert.equal(
    isWalletAddress(
      "bitcoin",
      "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx",
    ),
    false,
  );
  assert.equal(isWalletAddress("near", "anything"), null);
});

Deno.test("retryDelayMs() jitters fully under a doubling, bounded ceiling", () => {
  const ceiling = (attempt: number) =>
    retryDelayMs({ attempt, random: 1, retryAfterMs: null });
  assert.deepEqual([1, 2, 3, 4, 5, 6, 50].map(ceiling), [
    500,
    1000,
    2000,
    4000,
    8000,
    8000,
    8000,
  ]);
  assert.equal(retryDelayMs({ attempt: 3, random: 0, retryAfterMs: null }), 0);
  assert.equal(
    retryDelayMs({ attempt: 5, random: 0.9, retryAfterMs: 1000 }),
    7200,
  );
});

Deno.test("readRetryAfterMs() reads seconds and dates, and nothing else", () => {
  const now = Date.UTC(2026, 0, 1);
  const cases: [string | null, number | null][] = [
    [null, null],
    ["", null],
    ["0", 0],
    ["120", 120_000],
    [" 1.5 ", 1500],
    ["-1", null],
    ["later", null],
    ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
    ["2026-01-01T00:00:30Z", null],
  ];
  for (const [header, expected] of cases) {
    assert.equal(readRetryAfterMs(header, now), expected, String(header));
  }
});

Deno.test("backoffMs() doubles up to a limit", () => {
  const backoff = { firstMs: 1000, longestMs: 5000 };
  const waits = [1, 2, 3, 4, 99].map((failures) =>
    backoffMs(failures, backoff)
  );
  assert.deepEqual(waits, [1000, 2000, 4000, 5000, 5000]);
});

Deno.test("steadyClock() never goes back with a clock that is set back", () => {
  let time = 1_000_000;
  const steady = steadyClock(() => time);
  time -= 600_000;
  assert.equal(steady(), 0);
  time += 5;
  assert.equal(steady(), 5);
});
