import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { addParse } from "./parse.ts";
import { addReplay } from "./replay.ts";
import { addSend } from "./send.ts";

/** `webhook`: bodies of webhooks, sent and read. */
export function addWebhook(program: Command, cli: Cli): void {
  const webhook = program.command("webhook").summary(
    "send, replay and read webhook bodies",
  ).description("send, replay and read webhook bodies");
  for (const add of [addReplay, addSend, addParse]) add(webhook, cli);
}
