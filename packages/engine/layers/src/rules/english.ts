/** What people say about themselves in English. Forms are anchored at the start of a clause. */
import type { Clause, Fact, MatchedFact } from "./MatchedFact.js"
import { firstFact, folded, forms, instruction, profile, stated, taste } from "./MatchedFact.js"

const languages =
  "simplified chinese|traditional chinese|english|chinese|mandarin|cantonese|french|german|spanish|italian|portuguese|dutch|russian|ukrainian|japanese|korean|arabic|hebrew|hindi|bengali|urdu|persian|farsi|turkish|polish|czech|hungarian|romanian|greek|swedish|norwegian|danish|finnish|thai|vietnamese|indonesian"

/** The verbs a standing instruction begins with. A closed list, because "never mind" is none. */
const verbs =
  "add|address|answer|ask|assume|avoid|be|begin|call|change|check|cite|commit|confirm|convert|create|delete|do|end|explain|format|give|ignore|include|install|keep|leave|limit|list|make|mention|merge|output|prefer|propose|provide|push|put|quote|refer|remove|reply|respond|return|run|say|send|show|sign|skip|speak|spell|start|stick|stop|suggest|summarize|talk|tell|test|touch|translate|treat|try|update|use|verify|wrap|write"

/**
 * What a person can be by profession, where nothing else in the sentence says that it is one ("I'm a nurse"). A list,
 * because endings do not tell: of the nouns for persons in WordNet that end in -er, a third are occupations, and
 * "I'm an optimist" must not replace a profession.
 */
const roles =
  "\\p{L}*(?:ologist|ician|grapher|engineer)|accountant|actor|actress|administrator|analyst|architect|artist|attorney|author|baker|barista|carpenter|chef|chemist|coach|composer|consultant|contractor|cook|dentist|designer|developer|director|doctor|driver|economist|editor|entrepreneur|farmer|filmmaker|firefighter|founder|freelancer|gardener|historian|illustrator|instructor|intern|journalist|judge|lawyer|lecturer|librarian|linguist|manager|marketer|mechanic|nurse|nutritionist|officer|paramedic|pharmacist|physicist|physiotherapist|pilot|plumber|principal|producer|professor|programmer|realtor|recruiter|researcher|salesperson|scientist|secretary|singer|soldier|streamer|student|surgeon|teacher|therapist|trainer|translator|tutor|veterinarian|waiter|waitress|welder|writer|youtuber"

/** Words without content before a statement; up to three of them are dropped. */
const lead =
  /^(?:(?:hi|hello|hey|ok|okay|well|so|oh|and|but|also|anyway|actually|btw|by the way|fyi|just so you know|for your information|for context|for the record|as for me|personally|honestly|yes|yeah|yep|nope?|sure|thanks|thank you|please note(?: that)?|note(?: that)?|to be clear|in general|generally|note)(?: there)?(?:[,!.:]|\s)\s*)/i

const greeting =
  /^(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|nice to meet you)(?: (?:there|all|everyone|again))?\s*[,!.]*$/i

/** Suppositions, requests for a text, and reported speech. */
const notMeant =
  /^(?:if|when|whenever|unless|suppose|imagine|assume|assuming|pretend|let['’]?s say|say|for example|for instance|e\.g|such as|translate|write|rewrite|rephrase|correct|fix|proofread|improve|edit|draft|once upon|act as|you are)\b|\b(?:said|says|told|tells|asked|wrote|writes|saying|telling|quote|replied|answered)\b/i

/** The words that statements begin with: a quick test that most clauses fail. */
const subject = /^(?:i|i['’]?m|i['’]ve|my|this|call|please|just|you)\b/i

const adverbs =
  "(?:\\s+(?:really|also|just|absolutely|truly|particularly|especially|genuinely|still|totally|do|quite|always|generally|usually|normally|personally|much|strongly|actually|currently|now)){0,3}"

const on = (form: string): RegExp => new RegExp(form, "iu")

/** One to three words with capitals, or a few letters of a script that has none. */
const named = (rest: string): string | null => {
  const [found = null] =
    /^\p{Lu}[\p{L}\p{M}'’.-]{0,30}(?: \p{Lu}[\p{L}\p{M}'’.-]{0,30}){0,2}(?![\p{L}\p{N}])|^\p{Lo}{1,10}(?!\p{L})/u.exec(
      rest,
    ) ?? []
  if (found === null) return null
  const after = rest.slice(found.length).trim()
  const goesOn = after === "" || /^(?:[(.!,–—-]|and\b|but\b|from\b|here\b|by the way\b)/iu.test(after)
  const whole = found.replace(/(?<![.'’-])[.'’-]+$/u, "")
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
const place = (rest: string, { next }: Partial<Clause> = {}): string | null => {
  const run =
    /^(?:the )?\p{Lu}[\p{L}\p{M}'’.]*(?:[ -](?:(?:de|la|del|of|on|upon|am|the) )?\p{Lu}[\p{L}\p{M}'’.]*){0,4}|^\p{Lo}{2,12}/u
  const [found = null] = run.exec(rest) ?? []
  if (found === null) return null
  const whole = found.replace(/(?<![.'’])[.'’]+$/u, "")
  const wider =
    rest.length === found.length && next !== undefined
      ? /^\p{Lu}[\p{L}.]*(?: \p{Lu}[\p{L}.]*)?$/u.exec(next)
      : null
  return wider === null ? whole : `${whole}, ${wider[0].replace(/\.$/u, "")}`
}

const notThings =
  /^(?:its|that|that['’]s|they|his|my|our|their|each other|how|what|when|whenever|where|which|why|who|if|whether|the|everything|anything|nothing|something|both|either|neither|option|number|ones?|all|some|any|more|most|another|same|such|not|as|so|too|very|and|or|but|for|in|on|at|with|about|of|is|are|was|being able|having to|to (?:think|say|see|hear|know|believe|ask|add|point|be|bother|interrupt|admit|not|thank|start by|learn more|explore|try))\b/iu

/** The thing that is liked or not, without the reason for it. */
const thing = (rest: string): string | null => {
  const [first = ""] = rest.split(
    /(?<!\s)\s+(?:but|because|since|so|although|though|which|while|and (?:i|it|would|was|am|have|want|need|then))\b/iu,
  )
  const found = first
    .replace(
      /(?<!\s)\s+(?:any ?more|a lot|very much|so much|the most|the best|too|as well|these days|lately|at all)$/iu,
      "",
    )
    .replace(/(?<![^\p{L}\p{N})\]"'’%+#])[^\p{L}\p{N})\]"'’%+#]+$/u, "")
  const clear = found.length >= 2 && found.length <= 80 && !notThings.test(found) && !pointing.test(found)
  return clear ? found : null
}

/** Words that refer to something said before. */
const pointing =
  /\b(?:it|this|that one|these|those|them|him|her|you|your|yours|yourself)\b|^(?:to|be|a|an|of|at|on|in|for|with)$/iu

/** Without the punctuation at its end. */
const end = (value: string): string =>
  value.replace(/(?<![^\p{L}\p{N})\]"'’%+#])[^\p{L}\p{N})\]"'’%+#]+$/u, "")

const lowerCase = (value: string): string => value.toLowerCase()

/** "ada", in "my name is ada". */
const smallName = (rest: string): string | null =>
  plainName.test(end(rest)) && !notPlainNames.test(end(rest)) ? end(rest) : null

const i = "i(?: am|['’]?m)"
const myName = "my (?:full |first |real |given )?name(?:['’]s| is)"
const isCalled = "(?:['’]s name is| is (?:called|named))\\s+(.+)$"
const word = "[\\p{L}\\p{N}/+#.-]+"
const employer = "(\\s+(?:at|for|with|from)\\s+.{1,40})?(?:\\s+(?:who|and|based|working|living|in|by)\\b.*)?"
/** What people have, and not for the moment. */
const possessions =
  "dogs?|cats?|pupp(?:y|ies)|kittens?|horses?|rabbits?|parrots?|hamsters?|chickens?|kids?|child|children|sons?|daughters?|twins|brothers?|sisters?|siblings?|cars?|bikes?|bicycles?|motorcycles?|boats?|laptops?|computers?|phones?|tablets?|cameras?|guitars?|pianos?|violins?|house|apartment|flat|farm|degree|diploma|certification|certificate|licen[sc]e"
/** What makes of a thing that is named only what something is about. */
const relations =
  "(?:about|with|for|to|from|on|in|of|at|by|like|than|and|or|my|your|his|her|their|our|the|who|that)"
const played =
  "guitar|piano|violin|drums|bass|ukulele|cello|flute|saxophone|trumpet|clarinet|harp|tennis|soccer|football|basketball|volleyball|baseball|golf|badminton|squash|hockey|rugby|cricket|chess"
const traits =
  "early (?:riser|bird)|morning person|night owl|(?:light|heavy) sleeper|introvert|extrovert|homebody|left-handed|right-handed|colou?r[ -]blind"
const statuses = "married|divorced|widowed|retired|self-employed|unemployed|a (?:single )?parent"
const months = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"

/** The name of someone, under the key that `key` makes of who it is and of the name. */
const nameOf =
  (key: (who: string, name: string) => string): Fact =>
  (given, rest) => {
    const who = given.toLowerCase()
    const found = named(rest)
    return found === null ? null : profile(key(who, folded(found)), `Name of their ${who}: ${found}`)
  }

const roleAt: Fact = (role, where) =>
  /^(?:not|no|never|also not)\b/i.test(role) || pointing.test(role)
    ? null
    : profile("role", `Role: ${role}${where === "" ? "" : ` ${end(where)}`}`)

const favourite: Fact = (what, rest) => {
  const found = thing(rest)
  return found === null || partOfSomething.test(what)
    ? null
    : { kind: "preference", key: `favourite:${folded(what)}`, text: `Favourite ${what}: ${found}` }
}
const partOfSomething = /\b(?:part|thing|one|moment|bit|memory|line|scene|quote|example)s?\b/i

const habit: Fact = (how, what) =>
  /\b(?:this|that|it|these|those|them|you|your)\b/i.test(what)
    ? null
    : { kind: "preference", key: `habit:${folded(what)}`, text: `Habit: ${how.toLowerCase()} ${end(what)}` }

const statements = forms([
  [
    `^(?:${myName}|${i} called|(?:please |just |you can |you may )?call me|i go by)\\s+(.+)$`,
    stated("name", "Name: ", named),
  ],
  [`^${myName}\\s+(.+)$`, stated("name", "Name: ", smallName)],
  [
    `^(?:${i}|this is)\\s+(.+)$`,
    stated("name", "Name: ", (rest, { greeted }) => (greeted ? named(rest) : null)),
  ],
  [
    `^my (wife|husband|partner|spouse|girlfriend|boyfriend|fianc[ée]e?|mother|mom|mum|father|dad|boss|manager|company)${isCalled}`,
    nameOf((who) => `name-of:${who}`),
  ],
  // Of these one can have several, each with a name of its own.
  [
    `^my (son|daughter|brother|sister|dog|cat|puppy|kitten|horse)${isCalled}`,
    nameOf((who, name) => `name-of:${who}:${name}`),
  ],
  [
    `^(?:i${adverbs} live in|${i}${adverbs} (?:based|located|living) in|i(?:['’]ve| have)? (?:just|recently) moved to|i(?:['’]ve| have) (?:been living|lived) in)\\s+(.+)$`,
    stated("place", "Lives in: ", place),
  ],
  [
    `^(?:${i}(?: originally)? from|i(?: originally)? come from)\\s+(.+)$`,
    stated("origin", "Comes from: ", place),
  ],
  [
    `^my (?:native|first|mother) (?:language|tongue) is\\s+(${languages})\\b`,
    stated("native-language", "Native language: ", end),
  ],
  [
    `^i(?: can| also| only)? speak\\s+(?:fluent |native )?((?:${languages})(?:(?:,| and|, and) (?:${languages}))*)\\b`,
    stated("speaks:", "Speaks: ", end),
  ],
  [`^${i}(?: currently)? (\\d{1,3})(?:[ -]years?[ -]old| y/?o)\\b`, stated("age", "Age: ", end)],
  ["^my time ?zone is\\s+(.{2,40})$", stated("time-zone", "Time zone: ", end)],
  [
    `^my birthday(?:['’]s| is)(?: on)?\\s+(?=.*\\d|${months})(.{3,30})$`,
    stated("birthday", "Birthday: ", end),
  ],
  ["^my pronouns are\\s+([\\p{L}/ ]{2,20})$", stated("pronouns", "Pronouns: ", end)],
  [
    `^${i}(?: also| now)? (?:an? )?(?:strict |lifelong )?(vegan|vegetarian|pescatarian|lactose[ -]intolerant|diabetic|coeliac|celiac)\\b`,
    stated("diet:", "Diet: ", lowerCase),
  ],
  [
    `^${i}(?: also| severely| very| highly)? allergic to\\s+(.+)$`,
    stated("allergy:", "Allergic to: ", thing),
  ],
  [
    `^(?:${i}${adverbs}|i${adverbs} work as|my (?:job|occupation|profession) is)\\s+(?:(?:an?|the)\\s+)?((?:${word} ){0,4}?(?:${roles}))${employer}$`,
    roleAt,
  ],
  [`^i${adverbs} work as an?\\s+(?!(?:team|group|whole)\\b)(${word}(?: ${word}){0,4}?)${employer}$`, roleAt],
  [`^i${adverbs} work (?:at|for)\\s+(.+)$`, stated("workplace", "Works at: ", (rest) => place(rest))],
  [
    `^i(?:['’]ve| have| was| got| just got| recently got|(?:['’]ve| have)? (?:just|recently))(?: just| recently)?(?: been)? promoted to\\s+(?:(?:an?|the)\\s+)?((?:${word} ){0,4}?(?:${roles}))${employer}$`,
    roleAt,
  ],
  [
    `^i(?:['’]ve got|${adverbs} have|${adverbs} own)\\s+((?:an?|two|three|four|five|six|\\d{1,2})\\s+(?:(?!${relations}\\b)${word} ){0,3}?(?:${possessions})(?:\\s+(?:in|from|of)\\s+.{2,40})?)$`,
    stated("has:", "Has: ", thing),
  ],
  [`^i${adverbs} play\\s+(?:the )?(${played})\\b`, stated("plays:", "Plays: ", lowerCase)],
  [
    `^(?:${i}|i(?:['’]ve| have) been)${adverbs} learning\\s+(?:to (?:speak|play)\\s+)?(?:the )?((?:${languages}|${played}))\\b`,
    stated("learns:", "Learns: ", end),
  ],
  [
    `^${i}${adverbs}(?: an?)?(?: pretty| very| bit of an?)? (${traits})$`,
    stated("trait:", "Trait: ", lowerCase),
  ],
  [`^${i}(?: happily| newly| recently)? (${statuses})$`, stated("status:", "Status: ", lowerCase)],
  [
    "^i(?:['’]ve| have)? (?:graduated (?:from|in|with)|majored in)\\s+(.{2,60})$",
    stated("education:", "Education: ", thing),
  ],
  ["^my (?:all-time |absolute )?favou?rite ([\\p{L}\\p{N} ]{2,30}?) (?:is|are)\\s+(.+)$", favourite],
  [
    `^i${adverbs} (?:(?:don['’]?t|do not|no longer)(?: really| actually| particularly)? (?:like|love|enjoy|care for)|dislike|hate|detest|loathe|can['’]?t stand|cannot stand)\\s+(.+)$`,
    taste("Dislikes: ", thing),
  ],
  [`^i${adverbs} prefer\\s+(.+)$`, taste("Prefers: ", thing)],
  [`^i${adverbs} (?:like|love|enjoy|adore)\\s+(.+)$`, taste("Likes: ", thing)],
  [
    "^i (always|never|usually) ((?:eat|drink|use|wear|buy|drive|sleep|travel|fly|run|read|write|cook|work|walk|bike|commute)\\s+.{2,80})$",
    habit,
  ],
])

/** The fact in a clause, if there is one. */
export const aboutEnglish = (clause: Clause): MatchedFact | null => {
  let text = clause.text
  for (let turn = 0; turn < 3; turn++) text = text.replace(lead, "")
  if (!subject.test(text)) return null
  const greeted = clause.greeted || /^(?:hi|hello|hey)\b/i.test(clause.text)
  return firstFact(statements, text, { ...clause, greeted })
}

/** Words of standing instructions: a quick test that most sentences fail. */
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

/** The standing instruction in a sentence, if there is one. */
export const instructionEnglish = (
  sentence: string,
  about: (rest: string) => MatchedFact | null,
): MatchedFact | null => {
  if (!standing.test(sentence)) return null
  const text = sentence.replace(/(?<![.!…;\s])[.!…;\s]+$/u, "")
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

/** Whether a sentence is a supposition, a request for a text, or reported speech. */
export const notMeantEnglish = (sentence: string): boolean => notMeant.test(sentence)
