import DefaultTheme from "vitepress/theme"
import type { App } from "vue"
import TryIt from "./TryIt.vue"
import "./style.css"

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }: { readonly app: App }) => void app.component("TryIt", TryIt),
}
