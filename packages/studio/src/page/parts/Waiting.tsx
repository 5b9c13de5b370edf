/** What the page waits for, while nobody knows how long. */
export const Waiting = ({ children: what }: { readonly children: string }) => (
  <p class="soft">
    {what}… <progress aria-label={what} />
  </p>
)
