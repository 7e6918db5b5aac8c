import { Option } from "commander";
import {
  givenAs,
  type Named,
  type Operation,
  type OperationParam,
  pagesOf,
  paramsOf,
} from "../../resources/operations/operation.ts";
import { PAGE } from "../../resources/queries/page.ts";
import { lower } from "../../resources/views/text.ts";
import { UsageError } from "../../core/settings/errors.ts";

/** The parameters that a command takes; how many rows, it says otherwise. */
export function taken(operation: Operation): readonly Named[] {
  const isPaged = pagesOf(operation) !== null;
  return Object.entries(paramsOf(operation)).filter(([name, { only }]) =>
    only !== "request" && !(isPaged && Object.hasOwn(PAGE, name))
  );
}

/** The flags of a parameter; none where it is an operand. */
export function optionsOf(
  name: string,
  param: OperationParam<unknown>,
): readonly Option[] {
  const { place, words, operand = "<text>", schema, description } = param;
  if (place !== undefined) return [];
  if (words !== undefined) {
    return Object.entries(words).map(([word, does]) =>
      new Option(`--${word}`, does)
    );
  }
  const flag = givenAs([name, param]);
  if (schema.type === "boolean") return [new Option(flag, lower(description))];
  const option = new Option(`${flag} ${operand}`, lower(description));
  const choices = Array.isArray(schema.enum) ? schema.enum : [];
  // A shell completes them; more would fill the help.
  if (choices.length > 0 && choices.length <= 4) option.choices(choices);
  const { read, readFlag = read, many } = param;
  return [
    option.argParser((text: string, before: unknown): unknown => {
      const value = readFlag(flag, text);
      return many && Array.isArray(before) && Array.isArray(value)
        ? [...before, ...value]
        : value;
    }),
  ];
}

/**
 * What the operand of a parameter says; undefined where it was left out.
 *
 * @throws {UsageError} When it is wrong, or more than one was given.
 */
export function operandValue(
  { place = "", many, read }: OperationParam<unknown>,
  given: unknown,
): unknown {
  const texts = Array.isArray(given) ? given : [given];
  const values = texts.flatMap((text) =>
    typeof text === "string" ? [read(place, text)] : []
  );
  if (many) return values.length === 0 ? undefined : values.flat();
  if (values.length > 1) throw new UsageError(`Give one ${place}, not several`);
  return values[0];
}

/** What the flags of a parameter say; undefined where none was given. */
export function flagValue(
  name: string,
  param: OperationParam<unknown>,
  flags: object,
): unknown {
  const given = optionsOf(name, param).map((option) => {
    const value: unknown = Reflect.get(flags, option.attributeName());
    return value === undefined ? [] : [[option.name(), value] as const];
  }).flat();
  if (given.length > 1) {
    throw new UsageError(`Say either ${givenAs([name, param])}`);
  }
  const [[word, value] = []] = given;
  return param.words === undefined || word === undefined
    ? value
    : param.read(givenAs([name, param]), word);
}
