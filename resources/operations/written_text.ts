import { UsageError } from "../../core/settings/errors.ts";
import type { CsvForm } from "../../core/csv/csv.ts";
import { flagParam, textParam, wordParam } from "../../core/settings/params.ts";
import type { OperationParam } from "./operation.ts";

/** What makes some spreadsheets read a file as UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

/** The file that a command writes a text to. */
export const OUTPUT: OperationParam<string> = {
  ...textParam("Write to this file, which appears only when it is complete"),
  operand: "<file>",
  only: "command",
};

/** How the numbers and cells of CSV are written. */
export const CSV_FORM = {
  decimalMark: {
    ...wordParam(
      "What stands before decimals: a point, or a comma as German and French " +
        "spreadsheets read it; a point unless said",
      [".", ","],
    ),
    operand: "<mark>",
  },
  delimiter: {
    ...wordParam(
      "What stands between two cells; a comma unless said, and a semicolon " +
        "where decimals have the comma",
      [",", ";", "tab"],
    ),
    operand: "<mark>",
  },
} as const satisfies Readonly<Record<string, OperationParam<unknown>>>;

/** How a person wants CSV written. */
export interface AskedForm {
  readonly decimalMark?: "." | ",";
  readonly delimiter?: "," | ";" | "tab";
}

/** The form that was asked for; undefined where none was. */
export function csvForm(
  { decimalMark, delimiter }: AskedForm,
): CsvForm | undefined {
  if (decimalMark === undefined && delimiter === undefined) return undefined;
  const between = delimiter ?? (decimalMark === "," ? ";" : ",");
  return {
    decimalMark: decimalMark ?? ".",
    delimiter: between === "tab" ? "\t" : between,
  };
}

/** What a command that writes CSV takes beside it. */
export const CSV_FILE = {
  ...CSV_FORM,
  output: OUTPUT,
  bom: {
    ...flagParam(
      "Begin the file with a byte-order mark, for spreadsheets that need it; " +
        "with --output",
    ),
    only: "command",
  },
} as const satisfies Readonly<Record<string, OperationParam<unknown>>>;

/** Where a command writes CSV. */
interface CsvFile {
  readonly output?: string;
  readonly bom?: boolean;
}

/**
 * Refuses a byte-order mark that no file begins with.
 *
 * @throws {UsageError} When there is no file.
 */
export function refuseMarkAlone({ output, bom = false }: CsvFile): void {
  if (!bom || output !== undefined) return;
  throw new UsageError("--bom is written to a file: add --output FILE");
}

/** The parts of a text, after the mark that it may begin with. */
export async function* marked(
  parts: AsyncIterable<string>,
  { bom = false }: CsvFile,
): AsyncGenerator<string> {
  if (bom) yield BYTE_ORDER_MARK;
  yield* parts;
}

/** What is true when the writing was stopped. */
export function notWritten(
  { output }: CsvFile,
  printed: string,
): string {
  return output === undefined ? printed : `${output} was not written`;
}
