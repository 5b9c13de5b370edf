/** A list of any length: only the rows in sight are there. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core"
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks"

export interface ListProps {
  readonly label: string
  readonly count: number
  readonly keyOf: (at: number) => string | number
  readonly row: (at: number) => ComponentChildren
  /** The row to bring into sight when it changes. */
  readonly show?: { readonly at: number; readonly align: "start" | "end" }
}

/** Shows a list. It can be scrolled by keyboard. */
export const VirtualList = ({ label, count, keyOf, row, show }: ListProps) => {
  const box = useRef<HTMLDivElement>(null)
  const [, draw] = useReducer((times: number) => times + 1, 0)
  const options: VirtualizerOptions<HTMLDivElement, HTMLDivElement> = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => 96,
    getItemKey: keyOf,
    overscan: 6,
    gap: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(0 as never),
  }
  const [virtual] = useState(() => new Virtualizer(options))
  virtual.setOptions(options)
  // What the library asks of whoever connects it to a framework.
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => virtual._didMount(), [virtual])
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => virtual._willUpdate())
  const [at, align] = [show?.at, show?.align]
  useLayoutEffect(() => {
    if (at !== undefined && at >= 0 && at < count) virtual.scrollToIndex(at, { align: align ?? "start" })
  }, [virtual, at, align, count])
  return (
    <div ref={box} class="scroll" tabIndex={0} role="group" aria-label={label}>
      <div role="list" class="virtual" style={{ height: `${virtual.getTotalSize()}px` }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key as string}
            role="listitem"
            aria-setsize={count}
            aria-posinset={index + 1}
            data-index={index}
            ref={(element) => virtual.measureElement(element)}
            class="virtual-row"
            style={{ transform: `translateY(${start}px)` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  )
}
