/** A choice of one among few. */

/** What can be chosen: a value, or a value with its name. */
export type Option<Value extends string> = Value | readonly [value: Value, name: string]

export const Choice = <Value extends string>({
  label,
  options,
  value,
  choose,
  ...rest
}: {
  readonly label: string
  readonly options: ReadonlyArray<Option<Value>>
  readonly value?: Value
  readonly choose?: (value: Value) => void
  /** The name of the field in its form. */
  readonly name?: string
  readonly "aria-describedby"?: string
}) => (
  <label>
    {label}{" "}
    <select
      {...rest}
      {...(value === undefined ? {} : { value })}
      onChange={({ currentTarget }) => choose?.(currentTarget.value as Value)}
    >
      {options.map((option) => {
        const [one, name] = typeof option === "string" ? [option, option] : option
        return (
          <option key={one} value={one}>
            {name}
          </option>
        )
      })}
    </select>
  </label>
)
