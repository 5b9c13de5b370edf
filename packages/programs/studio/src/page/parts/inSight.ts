/** Rows of buttons that a narrow page scrolls: what is chosen or has the focus is in sight, all of it. */

/** Scrolls its row, and the page, as far as is needed to show an element. */
export const bringIntoSight = (element: Element | null | undefined): void =>
  element?.scrollIntoView({ block: "nearest", inline: "nearest" })

/** Shows the button of a row that gets the focus. The browser itself is content if a part of it can be seen. */
export const bringFocusIntoSight = ({
  target,
  currentTarget,
}: preact.TargetedFocusEvent<HTMLElement>): void => {
  if (target instanceof Element && target.parentElement === currentTarget) bringIntoSight(target)
}
