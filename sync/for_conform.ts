/**
 * What looking at the service needs; it loads the ledger, so it has a door of its
 * own.
 *
 * @module
 */
export {
  type AskService,
  NoAnswerError,
  type ServiceAnswer,
  type TestRequest,
} from "./conformance/observing/ask_service.ts";
export { conform } from "./conformance/conform.ts";
export { judge, type Judgement } from "./conformance/conform.ts";
export type {
  Fact,
  NotSeenReason,
} from "./conformance/observing/observation.ts";
export { sampleLedger } from "./conformance/observing/ledger_sample.ts";
export {
  readTranscript,
  type Transcript,
  writeTranscript,
} from "./conformance/transcript.ts";
