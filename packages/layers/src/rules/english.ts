/** What people say of themselves in English. Every rule is anchored at the start of a clause. */
import type { Clause, Found } from "./Found.js"
import { folded, instruction, profile, taste } from "./Found.js"

const languages =
  "simplified chinese|traditional chinese|english|chinese|mandarin|cantonese|french|german|spanish|italian|portuguese|dutch|russian|ukrainian|japanese|korean|arabic|hebrew|hindi|bengali|urdu|persian|farsi|turkish|polish|czech|hungarian|romanian|greek|swedish|norwegian|danish|finnish|thai|vietnamese|indonesian"

/** The verbs that a standing request begins with; a closed list, so that "never mind" is none. */
const verbs =
  "add|address|answer|ask|assume|avoid|be|begin|call|change|check|cite|commit|confirm|convert|create|delete|do|end|explain|format|give|ignore|include|install|keep|leave|limit|list|make|mention|merge|output|prefer|propose|provide|push|put|quote|refer|remove|reply|respond|return|run|say|send|show|sign|skip|speak|spell|start|stick|stop|suggest|summarize|talk|tell|test|touch|translate|treat|try|update|use|verify|wrap|write"

const roles =
  "accountant|actor|actress|administrator|analyst|architect|artist|attorney|author|baker|barista|biologist|carpenter|chef|chemist|coach|composer|consultant|contractor|cook|dentist|designer|developer|director|doctor|driver|economist|editor|electrician|engineer|entrepreneur|farmer|filmmaker|firefighter|founder|freelancer|gardener|geologist|historian|illustrator|instructor|intern|journalist|judge|lawyer|lecturer|librarian|linguist|manager|marketer|mathematician|mechanic|musician|nurse|nutritionist|officer|paramedic|pediatrician|pharmacist|photographer|physician|physicist|physiotherapist|pilot|plumber|principal|producer|professor|programmer|psychologist|realtor|recruiter|researcher|salesperson|scientist|secretary|singer|soldier|statistician|streamer|student|surgeon|teacher|technician|therapist|trainer|translator|tutor|veterinarian|waiter|waitress|welder|writer|youtuber"

const months = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"

/** At most one of these words in a row is dropped from the front, three times over. */
const lead =
  /^(?:(?:hi|hello|hey|ok|okay|well|so|oh|and|but|also|anyway|actually|btw|by the way|fyi|just so you know|for your information|for context|for the record|as for me|personally|honestly|yes|yeah|yep|nope?|sure|thanks|thank you|please note(?: that)?|note(?: that)?|to be clear|in general|generally|note)(?: there)?(?:[,!.:]|\s)\s*)/i

const greeting =
  /^(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|nice to meet you)(?: (?:there|all|everyone|again))?\s*[,!.]*$/i

/** Sentences that only suppose, order a text, or report what others say. */
const notMeant =
  /^(?:if|when|whenever|unless|suppose|imagine|assume|assuming|pretend|let['’]?s say|say|for example|for instance|e\.g|such as|translate|write|rewrite|rephrase|correct|fix|proofread|improve|edit|draft|once upon|act as|you are)\b|\b(?:said|says|told|tells|asked|wrote|writes|saying|telling|quote|replied|answered)\b/i

/** What every clause of a rule begins with: most clauses are done with here. */
const subject = /^(?:i|i['’]?m|i['’]ve|my|this|call|please|just|you)\b/i

const adverbs =
  "(?:\\s+(?:really|also|just|absolutely|truly|particularly|especially|genuinely|still|totally|do|quite|always|generally|usually|normally|personally|much|strongly|actually|currently|now)){0,3}"

const on = (form: string): RegExp => new RegExp(form, "iu")

const name = on(
  "^(?:my (?:full |first |real |given )?name(?:['’]s| is)|i(?: am|['’]?m) called|(?:please |just |you can |you may )?call me|i go by)\\s+(.+)$",
)
const introduced = on("^(?:i(?: am|['’]m)|this is)\\s+(.+)$")
const relative = on(
  "^my (wife|husband|partner|spouse|girlfriend|boyfriend|fianc[ée]e?|mother|mom|mum|father|dad|boss|manager|company|son|daughter|brother|sister|dog|cat|puppy|kitten|horse)(?:['’]s name is| is (?:called|named))\\s+(.+)$",
)
const many = new Set(["son", "daughter", "brother", "sister", "dog", "cat", "puppy", "kitten", "horse"])
const lives = on(
  `^(?:i${adverbs} live in|i(?: am|['’]?m)${adverbs} (?:based|located|living) in|i(?:['’]ve| have)? (?:just|recently) moved to)\\s+(.+)$`,
)
const origin = on("^(?:i(?: am|['’]?m)(?: originally)? from|i(?: originally)? come from)\\s+(.+)$")
const native = on(`^my (?:native|first|mother) (?:language|tongue) is\\s+(${languages})\\b`)
const speaks = on(
  `^i(?: can| also| only)? speak\\s+(?:fluent |native )?((?:${languages})(?:(?:,| and|, and) (?:${languages}))*)\\b`,
)
const role = on(
  `^(?:i(?: am|['’]?m)${adverbs}|i${adverbs} work as|my (?:job|occupation|profession) is)\\s+(?:(?:an?|the)\\s+)?((?:[\\p{L}\\p{N}/+#.-]+ ){0,4}?(?:${roles}))(\\s+(?:at|for|with|from)\\s+.{1,40})?(?:\\s+(?:who|and|based|working|living|in|by)\\b.*)?$`,
)
const works = on(`^i${adverbs} work (?:at|for)\\s+(.+)$`)
const age = on("^i(?: am|['’]?m)(?: currently)? (\\d{1,3})(?:[ -]years?[ -]old| y/?o)\\b")
const zone = on("^my time ?zone is\\s+(.{2,40})$")
const birthday = on("^my birthday(?:['’]s| is)(?: on)?\\s+(.{3,30})$")
const pronouns = on("^my pronouns are\\s+([\\p{L}/ ]{2,20})$")
const diet = on(
  "^i(?: am|['’]?m)(?: also| now)? (?:an? )?(?:strict |lifelong )?(vegan|vegetarian|pescatarian|lactose[ -]intolerant|diabetic|coeliac|celiac)\\b",
)
const allergic = on("^i(?: am|['’]?m)(?: also| severely| very| highly)? allergic to\\s+(.+)$")
const favourite = on("^my (?:all-time |absolute )?favou?rite ([\\p{L}\\p{N} ]{2,30}?) (?:is|are)\\s+(.+)$")
const dislikes = on(
  `^i${adverbs} (?:(?:don['’]?t|do not|no longer)(?: really| actually| particularly)? (?:like|love|enjoy|care for)|dislike|hate|detest|loathe|can['’]?t stand|cannot stand)\\s+(.+)$`,
)
const prefers = on(`^i${adverbs} prefer\\s+(.+)$`)
const likes = on(`^i${adverbs} (?:like|love|enjoy|adore)\\s+(.+)$`)
const habit = on(
  "^i (always|never|usually) ((?:eat|drink|use|wear|buy|drive|sleep|travel|fly|run|read|write|cook|work|walk|bike|commute)\\s+.{2,80})$",
)

/** One to three words with capitals, or a few letters of a script that has none. */
const named = (rest: string): string | null => {
  const [found = null] =
    /^\p{Lu}[\p{L}\p{M}'’.-]{0,30}(?: \p{Lu}[\p{L}\p{M}'’.-]{0,30}){0,2}(?![\p{L}\p{N}])|^\p{Lo}{1,10}(?!\p{L})/u.exec(
      rest,
    ) ?? []
  if (found === null) return null
  const after = rest.slice(found.length).trim()
  const goesOn = after === "" || /^(?:[(.!,–—-]|and\b|but\b|from\b|here\b|by the way\b)/iu.test(after)
  const whole = found.replace(/[.'’-]+$/u, "")
  return goesOn && whole !== "" && !notNames.has(whole.toLowerCase()) ? whole : null
}
const notNames = new Set(
  "a an the not back sorry sure happy glad fine good ok okay here new done ready american british english irish scottish welsh canadian australian french german italian spanish portuguese dutch swiss austrian belgian russian polish greek turkish chinese japanese korean indian mexican brazilian swedish norwegian danish finnish christian muslim jewish catholic".split(
    " ",
  ),
)
const plainName = /^\p{Ll}{2,20}$/u
const notPlainNames =
  /^(?:not|irrelevant|important|unimportant|secret|confidential|private|unknown|anonymous|different|misspelled|wrong|hard|too|very|on|in|listed|missing|short|long|unusual|common|rare|taken|no|none)$/

/** A place as it is written: words with capitals, and the small ones between them. */
const place = (rest: string, next: string | undefined): string | null => {
  const run =
    /^(?:the )?\p{Lu}[\p{L}\p{M}'’.]*(?:[ -](?:(?:de|la|del|of|on|upon|am|the) )?\p{Lu}[\p{L}\p{M}'’.]*){0,4}|^\p{Lo}{2,12}/u
  const [found = null] = run.exec(rest) ?? []
  if (found === null) return null
  const whole = found.replace(/[.'’]+$/u, "")
  const wider =
    rest.length === found.length && next !== undefined
      ? /^\p{Lu}[\p{L}.]*(?: \p{Lu}[\p{L}.]*)?$/u.exec(next)
      : null
  return wider === null ? whole : `${whole}, ${wider[0].replace(/\.$/u, "")}`
}

const notThings =
  /^(?:it|its|it['’]s|this|that|that['’]s|these|those|them|they|him|her|his|you|your|yours|my|our|their|each other|how|what|when|whenever|where|which|why|who|if|whether|the|everything|anything|nothing|something|both|either|neither|option|number|ones?|all|some|any|more|most|another|same|such|not|as|so|too|very|and|or|but|for|in|on|at|with|about|of|is|are|was|being able|having to|to (?:think|say|see|hear|know|believe|ask|add|point|be|bother|interrupt|admit|not|thank|start by|learn more|explore|try))\b/iu

/** What is liked or not, without what only explains it. */
const thing = (rest: string): string | null => {
  const [first = ""] = rest.split(
    /\s+(?:but|because|since|so|although|though|which|while|and (?:i|it|would|was|am|have|want|need|then))\b/iu,
  )
  const found = first
    .replace(
      /\s+(?:any ?more|a lot|very much|so much|the most|the best|too|as well|these days|lately|at all)$/iu,
      "",
    )
    .replace(/[^\p{L}\p{N})\]"'’%+#]+$/u, "")
  const clear = found.length >= 2 && found.length <= 80 && !notThings.test(found) && !pointing.test(found)
  return clear ? found : null
}

/** What cannot be understood without what was said before. */
const pointing =
  /\b(?:it|this|that one|these|those|them|him|her|you|your|yours|yourself)\b|^(?:to|be|a|an|of|at|on|in|for|with)$/iu

/** The fact in a clause, if there is one. */
export const aboutEnglish = ({ text: clause, next, greeted }: Clause): Found | null => {
  let text = clause
  for (let round = 0; round < 3; round++) text = text.replace(lead, "")
  if (!subject.test(text)) return null
  const first = (form: RegExp, group = 1): string | undefined => form.exec(text)?.[group]?.trim()
  const end = (value: string): string => value.replace(/[^\p{L}\p{N})\]"'’%+#]+$/u, "")
  let rest: string | undefined

  if ((rest = first(name)) !== undefined) {
    const small = end(rest)
    const found =
      named(rest) ?? (/^my/i.test(text) && plainName.test(small) && !notPlainNames.test(small) ? small : null)
    return found === null ? null : profile("name", `Name: ${found}`)
  }
  if ((greeted || /^(?:hi|hello|hey)\b/i.test(clause)) && (rest = first(introduced)) !== undefined) {
    const found = named(rest)
    if (found !== null) return profile("name", `Name: ${found}`)
  }
  if ((rest = first(relative, 2)) !== undefined) {
    const found = named(rest)
    const who = (first(relative) ?? "").toLowerCase()
    if (found === null) return null
    const key = many.has(who) ? `name-of:${who}:${folded(found)}` : `name-of:${who}`
    return profile(key, `Name of their ${who}: ${found}`)
  }
  if ((rest = first(lives)) !== undefined) {
    const found = place(rest, next)
    return found === null ? null : profile("place", `Lives in: ${found}`)
  }
  if ((rest = first(origin)) !== undefined) {
    const found = place(rest, next)
    return found === null ? null : profile("origin", `Comes from: ${found}`)
  }
  if ((rest = first(native)) !== undefined) return profile("native-language", `Native language: ${rest}`)
  if ((rest = first(speaks)) !== undefined) return profile(`speaks:${folded(rest)}`, `Speaks: ${rest}`)
  if ((rest = first(age)) !== undefined) return profile("age", `Age: ${rest}`)
  if ((rest = first(zone)) !== undefined) return profile("time-zone", `Time zone: ${end(rest)}`)
  if ((rest = first(birthday)) !== undefined) {
    const dated = on(`\\d|^(?:${months})`).test(rest)
    return dated ? profile("birthday", `Birthday: ${end(rest)}`) : null
  }
  if ((rest = first(pronouns)) !== undefined) return profile("pronouns", `Pronouns: ${end(rest)}`)
  if ((rest = first(diet)) !== undefined)
    return profile(`diet:${folded(rest)}`, `Diet: ${rest.toLowerCase()}`)
  if ((rest = first(allergic)) !== undefined) {
    const found = thing(rest)
    return found === null ? null : profile(`allergy:${folded(found)}`, `Allergic to: ${found}`)
  }
  if ((rest = first(role)) !== undefined) {
    if (/^(?:not|no|never|also not)\b/i.test(rest)) return null
    const where = first(role, 2)
    return profile("role", `Role: ${rest}${where === undefined ? "" : ` ${end(where)}`}`)
  }
  if ((rest = first(works)) !== undefined) {
    const found = place(rest, undefined)
    return found === null ? null : profile("workplace", `Works at: ${found}`)
  }
  if ((rest = first(favourite, 2)) !== undefined) {
    const what = first(favourite) ?? ""
    const found = thing(rest)
    if (found === null || /\b(?:part|thing|one|moment|bit|memory|line|scene|quote|example)s?\b/i.test(what))
      return null
    return { kind: "preference", key: `favourite:${folded(what)}`, text: `Favourite ${what}: ${found}` }
  }
  for (const [form, label] of [
    [dislikes, "Dislikes: "],
    [prefers, "Prefers: "],
    [likes, "Likes: "],
  ] as const) {
    if ((rest = first(form)) === undefined) continue
    const found = thing(rest)
    return found === null ? null : taste(label, found)
  }
  if ((rest = first(habit, 2)) !== undefined) {
    const how = (first(habit) ?? "").toLowerCase()
    if (/\b(?:this|that|it|these|those|them|you|your)\b/i.test(rest)) return null
    return { kind: "preference", key: `habit:${folded(rest)}`, text: `Habit: ${how} ${end(rest)}` }
  }
  return null
}

/** What every standing request has in it. */
const standing =
  /\b(?:always|never|ever|now on|here on|forward|henceforth|answer|reply|respond|speak|talk|use|write|remember|mind|forget|note)\b/i

const polite = "(?:please,? |also,? |and |oh,? |ok,? |okay,? |so,? |btw,? |by the way,? ){0,3}"
const always = on(`^${polite}(?:always|never|do not ever|don['’]t ever) (?:${verbs})\\b`)
const fromNowOn = on(
  `^${polite}(?:from now on|going forward|from here on(?: out)?|henceforth),? (?:${polite})(?:always|never|don['’]?t|do not|only|no|i(?: want|['’]d like| would like| need) you to|you (?:should|must)|(?:${verbs})\\b)`,
)
const fromNowOnLast = on(
  `^${polite}(?:always |never |don['’]?t |do not |only )?(?:${verbs})\\b.{2,}\\bfrom now on$`,
)
const answerIn = on(
  `^${polite}(?:always |only )?(?:(?:answer|reply|respond|speak|talk)(?: to)?(?: me| us)?|use|write)(?: back| only| always)? (?:in )?(${languages})(?: only| please|,? please| from now on| always| at all times| in (?:all )?your (?:answers|replies|responses))*$`,
)
const remember = on(
  `^${polite}(?:remember|keep in mind|bear in mind|don['’]?t forget|do not forget|make a note|take note)(?: that |\\s*: ?|(?= to )|,? (?=(?:i|i['’]m|my|we|our)\\b))(.{4,})$`,
)
const notToRemember =
  /^(?:when|how|what|why|where|who|if|time|my words|we talked|i (?:said|told|asked|mentioned)|to be)\b|\b(?:yourself|your)\b/iu

/** What shall hold from now on, if a whole sentence says so. */
export const instructionEnglish = (sentence: string, about: (rest: string) => Found | null): Found | null => {
  if (!standing.test(sentence)) return null
  const text = sentence.replace(/[.!…;\s]+$/u, "")
  const language = answerIn.exec(text)?.[1]
  if (language !== undefined && (/\bin /i.test(text) || /^(?:please,? )?(?:always|only) /i.test(text))) {
    const oneOff =
      /^(?:please,? |also,? )*(?:write|use)\b/i.test(text) && !/from now on|always|at all times/i.test(text)
    return oneOff ? null : instruction(`Answer in ${language}`, "answer-language")
  }
  if (/\bnever (?:say never|give up)\b/i.test(text)) return null
  if (always.test(text) || fromNowOn.test(text) || fromNowOnLast.test(text)) {
    const inner = /\bin ((?:simplified |traditional )?\p{L}+)(?: from now on)?$/iu.exec(text)?.[1]
    const isLanguage =
      inner !== undefined &&
      on(`^(?:${languages})$`).test(inner) &&
      /\b(?:answer|reply|respond|speak|talk)\b/i.test(text)
    return instruction(text, isLanguage ? "answer-language" : undefined)
  }
  const rest = remember.exec(text)?.[1]?.trim()
  if (rest === undefined || notToRemember.test(rest)) return null
  return about(rest) ?? instruction(`Remember: ${rest}`)
}

/** Whether a sentence is nothing but a greeting. */
export const isGreetingEnglish = (sentence: string): boolean => greeting.test(sentence)

/** Whether a sentence only supposes, orders a text, or reports. */
export const notMeantEnglish = (sentence: string): boolean => notMeant.test(sentence)
