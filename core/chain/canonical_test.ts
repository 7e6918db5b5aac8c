import assert from "node:assert/strict";
import {
  canonicalAddress,
  canonicalTransaction,
  isVisible,
  tonAddress,
  transactionForm,
} from "./canonical.ts";

const HASH = "83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8";
/** Spellings of one account, as the documents of the network give them. */
const TON = [
  `0:${HASH}`,
  `0:${HASH.toUpperCase()}`,
  "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N",
  "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI",
  "kQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqKYH",
];

Deno.test("canonicalAddress() gives every spelling of a TON account one form", () => {
  assert.equal(tonAddress(HASH), TON[2]);
  for (const one of TON) {
    assert.equal(canonicalAddress("ton", one), `0:${HASH}`, one);
    assert.equal(canonicalAddress("TON", ` ${one} `), `0:${HASH}`, one);
    assert.equal(canonicalAddress(null, one), `0:${HASH}`, one);
  }
  const url = "EQAAAAAA--__".padEnd(48, "A");
  assert.equal(canonicalAddress("ton", url), url, "a wrong checksum");
  const [, , known = ""] = TON;
  assert.equal(canonicalAddress("polygon", known), known);
});

Deno.test("canonicalAddress() reads base64 and base64url of a TON account alike", () => {
  const hash = "fb".repeat(32);
  const url = tonAddress(hash);
  const plain = url.replaceAll("-", "+").replaceAll("_", "/");
  assert(/[_-]/.test(url) && /[+/]/.test(plain));
  for (const one of [url, plain]) {
    assert.equal(canonicalAddress("ton", one), `0:${hash}`, one);
  }
});

Deno.test("canonicalAddress() ignores case only where the network does", () => {
  const evm = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  assert.equal(canonicalAddress("polygon", evm), evm.toLowerCase());
  assert.equal(canonicalAddress("theta", evm), evm.toLowerCase());
  assert.equal(canonicalAddress("solana", evm), evm);
  const bech32 = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
  assert.equal(canonicalAddress("bitcoin", bech32.toUpperCase()), bech32);
  assert.equal(canonicalAddress("bitcoin", bech32), bech32);
  const wrong = bech32.toUpperCase().replace(/4$/, "5");
  assert.equal(canonicalAddress("bitcoin", wrong), wrong);
  const base58 = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2";
  assert.equal(canonicalAddress("bitcoin", base58), base58);
  assert.equal(canonicalAddress("bitcoin", ` ${base58}\n`), base58);
});

Deno.test("canonicalTransaction() gives every spelling of a transaction one form", () => {
  const evm = `0x${"aB".repeat(32)}`;
  assert.equal(canonicalTransaction("base", evm), evm.toLowerCase());
  const bitcoin = "aB".repeat(32);
  assert.equal(canonicalTransaction("bitcoin", bitcoin), bitcoin.toLowerCase());
  const base64 = "g9/VUuY3KbRy/LzIxF68xmkXAlWLaOx1J+G6QDoPMag";
  const url = base64.replaceAll("+", "-").replaceAll("/", "_");
  for (const one of [HASH, HASH.toUpperCase(), base64, `${base64}=`, url]) {
    assert.equal(canonicalTransaction("ton", one), HASH, one);
  }
  const solana = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb";
  assert.equal(canonicalTransaction("solana", solana), solana);
});

Deno.test("transactionForm() takes for a transaction only what the network writes so", () => {
  const hash = `0x${"5a".repeat(32)}`;
  assert.equal(transactionForm("polygon", hash), "named");
  assert.equal(transactionForm("polygon", hash.slice(0, -1)), "unreadable");
  assert.equal(transactionForm("polygon", hash.slice(2)), "unreadable");
  assert.equal(transactionForm("bitcoin", hash.slice(2)), "named");
  assert.equal(transactionForm("bitcoin", hash), "unreadable");
  assert.equal(transactionForm("solana", "5a".repeat(10)), "named");
  assert.equal(transactionForm("solana", "a".repeat(19)), "unreadable");
  assert.equal(
    transactionForm("solana", "555555555a 5555555555"),
    "unreadable",
  );
  assert.equal(transactionForm("solana", "1".repeat(30)), "empty");
  const empty = ["", "  ", "\u200b".repeat(30), "0x", "null", "-", "pending"];
  for (const one of [...empty, "\u2800".repeat(30), "\u0000", "0", "1234567"]) {
    for (const network of ["polygon", "bitcoin", "ton", "solana", null]) {
      assert.equal(transactionForm(network, one), "empty", one);
    }
  }
});

Deno.test("isVisible() sees nothing in blanks", () => {
  assert(!isVisible(" \t\u200b\u3164\u2800\ufeff"));
  assert(isVisible(" 0 "));
});
