--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)


--
-- Name: memfold; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA memfold;


--
-- Name: delete_events_of_session(); Type: FUNCTION; Schema: memfold; Owner: -
--

CREATE FUNCTION memfold.delete_events_of_session() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
     DELETE FROM "memfold".events WHERE id > OLD.id << 32 AND id < OLD.id + 1 << 32;
     RETURN OLD;
   END $$;




--
-- Name: summaries; Type: TABLE; Schema: memfold; Owner: -
--

CREATE TABLE memfold.summaries (
    summary_id text NOT NULL COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    summary_text text NOT NULL,
    compact_up_to_index bigint NOT NULL,
    compacted_at bigint NOT NULL,
    is_split_turn boolean DEFAULT false NOT NULL,
    split_turn_prefix text,
    is_active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    status text NOT NULL,
    superseded_by text,
    session bigint NOT NULL,
    version bigint NOT NULL,
    "time" bigint NOT NULL,
    tokens bigint NOT NULL,
    CONSTRAINT summaries_check CHECK ((is_active = (status = 'active'::text)))
);


--
-- Name: compressed_summaries; Type: VIEW; Schema: memfold; Owner: -
--

CREATE VIEW memfold.compressed_summaries WITH (security_invoker='true') AS
 SELECT summaries.summary_id AS id,
    summaries.thread_id AS chat_id,
    summaries.status,
    to_timestamp((((summaries."time")::numeric / 1000.0))::double precision) AS compressed_at,
    summaries.summary_text AS summary,
    ( SELECT COALESCE(jsonb_agg("position"."position"), '[]'::jsonb) AS "coalesce"
           FROM generate_series((0)::bigint, (LEAST(summaries.compact_up_to_index, summaries.compacted_at) - 1)) "position"("position")) AS message_ids,
    summaries.superseded_by,
    summaries.tokens,
    summaries.version
   FROM memfold.summaries;


--
-- Name: events; Type: TABLE; Schema: memfold; Owner: -
--

CREATE TABLE memfold.events (
    id bigint NOT NULL,
    "time" bigint NOT NULL,
    checksum bigint,
    type integer NOT NULL,
    schema_version integer NOT NULL,
    batch_position integer NOT NULL,
    batch_hash integer,
    batch_id text COLLATE pg_catalog."C",
    data text NOT NULL
);


--
-- Name: sessions; Type: TABLE; Schema: memfold; Owner: -
--

CREATE TABLE memfold.sessions (
    id bigint NOT NULL,
    last_version bigint DEFAULT 0 NOT NULL,
    created_at bigint NOT NULL,
    described boolean DEFAULT false NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    owner text COLLATE pg_catalog."C",
    title text
)
WITH (fillfactor='70');


--
-- Name: types; Type: TABLE; Schema: memfold; Owner: -
--

CREATE TABLE memfold.types (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: log; Type: VIEW; Schema: memfold; Owner: -
--

CREATE VIEW memfold.log WITH (security_invoker='true') AS
 SELECT sessions.name AS session,
    (events.id & '4294967295'::bigint) AS version,
    types.name AS type,
    to_timestamp((((events."time")::numeric / 1000.0))::double precision) AS "time",
    COALESCE(events.batch_id, ( SELECT first.batch_id
           FROM memfold.events first
          WHERE (first.id = (events.id - events.batch_position)))) AS batch_id,
    events.data
   FROM ((memfold.events
     JOIN memfold.sessions ON ((sessions.id = (events.id >> 32))))
     JOIN memfold.types ON ((types.id = events.type)));


--
-- Name: migrations; Type: TABLE; Schema: memfold; Owner: -
--

CREATE TABLE memfold.migrations (
    version integer NOT NULL,
    applied_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);


--
-- Name: projections; Type: TABLE; Schema: memfold; Owner: -
--

CREATE TABLE memfold.projections (
    session bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    data text NOT NULL,
    mark text COLLATE pg_catalog."C"
);


--
-- Name: sessions_id_seq; Type: SEQUENCE; Schema: memfold; Owner: -
--

ALTER TABLE memfold.sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME memfold.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    MAXVALUE 2147483647
    CACHE 1
);


--
-- Name: types_id_seq; Type: SEQUENCE; Schema: memfold; Owner: -
--

ALTER TABLE memfold.types ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME memfold.types_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Data for Name: events; Type: TABLE DATA; Schema: memfold; Owner: -
--

INSERT INTO memfold.events VALUES (4294967297, 1795731006523, 1340821162, 1, 2, 0, NULL, '01m8cyh907zz9sxkmt5n', '{"index":0,"role":"system","text":"You answer questions about orders.","tokens":10}');
INSERT INTO memfold.events VALUES (4294967298, 1795731006710, 411892946, 1, 2, 0, NULL, '01m8cyh97p894dr69td6', '{"index":1,"role":"user","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (4294967299, 1795731006710, 2131538759, 1, 2, 1, NULL, NULL, '{"index":2,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-0","name":"find_order","arguments":"{\"order\":\"KX-4470\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (4294967300, 1795731006710, 1468017445, 1, 2, 2, NULL, NULL, '{"index":3,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-0","output":"{\"order\":\"KX-4470\",\"state\":\"sent on day 0\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (4294967301, 1795731006710, 3245292406, 1, 2, 3, NULL, NULL, '{"index":4,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 0 is what was asked for.","signature":"signed-0"},{"type":"text","text":"Order KX-4470 was sent on day 0. It weighs 0.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (4294967302, 1795731006710, 350697411, 2, 1, 4, NULL, NULL, '{"owner":"ada","title":"Orders support"}');
INSERT INTO memfold.events VALUES (4294967303, 1795731007068, 1314452837, 1, 2, 0, NULL, '01m8cyh9jwvm9vzxfpfx', '{"index":5,"role":"user","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (4294967304, 1795731007068, 3273031143, 1, 2, 1, NULL, NULL, '{"index":6,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-1","name":"find_order","arguments":"{\"order\":\"KX-4471\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (4294967305, 1795731007068, 361244699, 1, 2, 2, NULL, NULL, '{"index":7,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-1","output":"{\"order\":\"KX-4471\",\"state\":\"sent on day 1\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (4294967306, 1795731007068, 3466667196, 1, 2, 3, NULL, NULL, '{"index":8,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 1 is what was asked for.","signature":"signed-1"},{"type":"text","text":"Order KX-4471 was sent on day 1. It weighs 1.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (4294967307, 1795731007697, 665935426, 3, 1, 0, NULL, '01m8cyha6hbwfvx83zpt', '{"from":0,"to":9,"facts":[{"id":"scope.0@0-9v10.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":1,"to":5},{"id":"scope.1@0-9v10.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":5,"to":9}]}');
INSERT INTO memfold.events VALUES (4294967308, 1795731007878, 1224274237, 1, 2, 0, NULL, '01m8cyhac6n1sqebwa5d', '{"index":9,"role":"user","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (4294967309, 1795731007878, 4139532433, 1, 2, 1, NULL, NULL, '{"index":10,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-2","name":"find_order","arguments":"{\"order\":\"KX-4472\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (4294967310, 1795731007878, 3861072102, 1, 2, 2, NULL, NULL, '{"index":11,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-2","output":"{\"order\":\"KX-4472\",\"state\":\"sent on day 2\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (4294967311, 1795731007878, 3164940444, 1, 2, 3, NULL, NULL, '{"index":12,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 2 is what was asked for.","signature":"signed-2"},{"type":"text","text":"Order KX-4472 was sent on day 2. It weighs 2.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (4294967312, 1795731007960, 15000823, 1, 2, 0, NULL, '01m8cyhaernravycev4x', '{"index":13,"role":"user","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (4294967313, 1795731007960, 2341462616, 1, 2, 1, NULL, NULL, '{"index":14,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-3","name":"find_order","arguments":"{\"order\":\"KX-4473\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (4294967314, 1795731007960, 386795318, 1, 2, 2, NULL, NULL, '{"index":15,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-3","output":"{\"order\":\"KX-4473\",\"state\":\"sent on day 3\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (4294967315, 1795731007960, 1722640671, 1, 2, 3, NULL, NULL, '{"index":16,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 3 is what was asked for.","signature":"signed-3"},{"type":"text","text":"Order KX-4473 was sent on day 3. It weighs 3.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (4294967316, 1795731008062, 2241442573, 3, 1, 0, NULL, '01m8cyhahy2srma0warr', '{"from":9,"to":17,"facts":[{"id":"scope.0@9-17v19.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":9,"to":13},{"id":"scope.1@9-17v19.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":13,"to":17}]}');
INSERT INTO memfold.events VALUES (4294967317, 1795731008121, 2230685758, 4, 1, 0, 651409, '01m8cyhaks8k5r9402nz', '{"compaction":"01m8cyhaks8k5r9402nz","strategy":"rounds","reason":"demand","from":0,"to":9,"tailFrom":9,"parts":[{"kind":"block","from":0,"to":9}],"leaseUntil":1795731038121}');
INSERT INTO memfold.events VALUES (4294967318, 1795731008627, 341915777, 5, 1, 0, -3964006, '01m8cyhb3h0fx1hv385s', '{"compaction":"01m8cyhaks8k5r9402nz","summary":"01m8cyhb3h0fx1hv385s","coveredTo":9,"carried":0,"segments":[{"kind":"block","from":0,"to":9,"text":"- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦\n- assistant: It weighs 0.5 kg.\n- user: Question 1: wo ist Bestellung KX-4471?\n- assistant: It weighs 1.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":70,"tokensBefore":422,"tokensAfter":286}');
INSERT INTO memfold.events VALUES (4294967319, 1795731008767, 1040824237, 1, 2, 0, NULL, '01m8cyhb7y3envk4hv84', '{"index":17,"role":"user","text":"Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (4294967320, 1795731008767, 2816893571, 1, 2, 1, NULL, NULL, '{"index":18,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-4","name":"find_order","arguments":"{\"order\":\"KX-4474\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (4294967321, 1795731008767, 842696549, 1, 2, 2, NULL, NULL, '{"index":19,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-4","output":"{\"order\":\"KX-4474\",\"state\":\"sent on day 4\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (4294967322, 1795731008767, 247513402, 1, 2, 3, NULL, NULL, '{"index":20,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 4 is what was asked for.","signature":"signed-4"},{"type":"text","text":"Order KX-4474 was sent on day 4. It weighs 4.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (4294967323, 1795731008774, 1911273879, 1, 2, 0, NULL, '01m8cyhb86405t69fkzt', '{"index":21,"role":"user","text":"Question 5: wo ist Bestellung KX-4475? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (4294967324, 1795731008774, 3977768496, 1, 2, 1, NULL, NULL, '{"index":22,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-5","name":"find_order","arguments":"{\"order\":\"KX-4475\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (4294967325, 1795731008774, 38759659, 1, 2, 2, NULL, NULL, '{"index":23,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-5","output":"{\"order\":\"KX-4475\",\"state\":\"sent on day 5\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (4294967326, 1795731008774, 3011177387, 1, 2, 3, NULL, NULL, '{"index":24,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 5 is what was asked for.","signature":"signed-5"},{"type":"text","text":"Order KX-4475 was sent on day 5. It weighs 5.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (4294967327, 1795731008805, 3473912227, 3, 1, 0, NULL, '01m8cyhb955hj4x0xw0k', '{"from":17,"to":25,"facts":[{"id":"scope.0@17-25v30.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦 → Order KX-4474 was sent on day 4. It weighs 4.5 kg.","from":17,"to":21},{"id":"scope.1@17-25v30.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 5: wo ist Bestellung KX-4475? 订单在哪里？ 📦 → Order KX-4475 was sent on day 5. It weighs 5.5 kg.","from":21,"to":25}]}');
INSERT INTO memfold.events VALUES (4294967329, 1795731008850, 4282686306, 5, 1, 0, 2897380, '01m8cyhbah9epwnrfrsg', '{"compaction":"01m8cyhb9qb5tfywxyer","summary":"01m8cyhbah9epwnrfrsg","coveredTo":17,"carried":1,"segments":[{"kind":"block","from":9,"to":17,"text":"- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦\n- assistant: It weighs 2.5 kg.\n- user: Question 3: wo ist Bestellung KX-4473?\n- assistant: It weighs 3.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":132,"tokensBefore":492,"tokensAfter":348}');
INSERT INTO memfold.events VALUES (4294967330, 1795731008850, 4219837631, 6, 1, 1, NULL, NULL, '{"summary":"01m8cyhb3h0fx1hv385s","by":"01m8cyhbah9epwnrfrsg"}');
INSERT INTO memfold.events VALUES (4294967335, 1795731008907, 2590247739, 1, 2, 0, NULL, '01m8cyhbcbdtkk74wcnq', '{"index":29,"role":"user","text":"Question 7: wo ist Bestellung KX-4477? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (4294967336, 1795731008907, 2658268729, 1, 2, 1, NULL, NULL, '{"index":30,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-7","name":"find_order","arguments":"{\"order\":\"KX-4477\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (4294967337, 1795731008907, 4156955276, 1, 2, 2, NULL, NULL, '{"index":31,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-7","output":"{\"order\":\"KX-4477\",\"state\":\"sent on day 7\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (4294967338, 1795731008907, 1499042531, 1, 2, 3, NULL, NULL, '{"index":32,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 7 is what was asked for.","signature":"signed-7"},{"type":"text","text":"Order KX-4477 was sent on day 7. It weighs 7.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (4294967340, 1795731008992, 2533086044, 4, 1, 0, 5046627, '01m8cyhbf0t3m3r87z2h', '{"compaction":"01m8cyhbf0t3m3r87z2h","strategy":"rounds","reason":"demand","from":17,"to":25,"tailFrom":25,"parts":[{"kind":"block","from":17,"to":25}],"leaseUntil":1795731038992}');
INSERT INTO memfold.events VALUES (4294967343, 1795731009086, 1100028466, 1, 2, 0, 3134392, 'picture', '{"index":33,"message":{"role":"user","parts":[{"type":"text","text":"What is on this picture?"},{"type":"file","mediaType":"image/png","uri":"data:image/png;base64,iVBORw0KGgo="}]},"tokens":1010}');
INSERT INTO memfold.events VALUES (4294967344, 1795731009086, 669402577, 1, 2, 1, NULL, NULL, '{"index":34,"role":"assistant","text":"A box.","tokens":7}');
INSERT INTO memfold.events VALUES (4294967347, 1795731009353, 4023951871, 3, 1, 0, NULL, '01m8cyhbt95ekj6ferm0', '{"from":33,"to":37,"facts":[{"id":"user.0@33-37v50.1795731006523.0.support","layer":"user","kind":"profile","text":"Name: Ada","key":"name","from":35,"to":36},{"id":"user.1@33-37v50.1795731006523.0.support","layer":"user","kind":"profile","text":"Lives in: Zürich","key":"place","from":35,"to":36},{"id":"scope.0@33-37v50.1795731006523.0.support","layer":"scope","kind":"digest","text":"What is on this picture? → A box.","from":33,"to":35},{"id":"scope.1@33-37v50.1795731006523.0.support","layer":"scope","kind":"digest","text":"My name is Ada. I live in Zürich. → Noted.","from":35,"to":37}]}');
INSERT INTO memfold.events VALUES (4294967349, 1795731009495, 2475426030, 5, 1, 0, -2515114, '01m8cyhbyqf2ddyjj2bh', '{"compaction":"01m8cyhbtrq60vkn50zg","summary":"01m8cyhbyqf2ddyjj2bh","coveredTo":33,"carried":3,"segments":[{"kind":"block","from":25,"to":33,"text":"- user: Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦\n- assistant: It weighs 6.5 kg.\n- user: Question 7: wo ist Bestellung KX-4477?\n- assistant: It weighs 7.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":257,"tokensBefore":1448,"tokensAfter":1304}');
INSERT INTO memfold.events VALUES (4294967350, 1795731009495, 3372185555, 6, 1, 1, NULL, NULL, '{"summary":"01m8cyhbg1rmrym8qkae","by":"01m8cyhbyqf2ddyjj2bh"}');
INSERT INTO memfold.events VALUES (8589934593, 1795731006523, 1689123821, 1, 2, 0, 1007583, 'fork-01m8cyhbyqf2ddyjj2bh-54', '{"index":0,"role":"system","text":"You answer questions about orders.","tokens":10}');
INSERT INTO memfold.events VALUES (8589934594, 1795731006710, 3534672625, 1, 2, 1, NULL, NULL, '{"index":1,"role":"user","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (8589934595, 1795731006710, 2610972684, 1, 2, 2, NULL, NULL, '{"index":2,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-0","name":"find_order","arguments":"{\"order\":\"KX-4470\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (8589934596, 1795731006710, 3877004749, 1, 2, 3, NULL, NULL, '{"index":3,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-0","output":"{\"order\":\"KX-4470\",\"state\":\"sent on day 0\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (8589934597, 1795731006710, 1249120061, 1, 2, 4, NULL, NULL, '{"index":4,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 0 is what was asked for.","signature":"signed-0"},{"type":"text","text":"Order KX-4470 was sent on day 0. It weighs 0.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (8589934598, 1795731006710, 3922475475, 2, 1, 5, NULL, NULL, '{"owner":"ada","title":"Orders support"}');
INSERT INTO memfold.events VALUES (8589934599, 1795731007068, 3945020365, 1, 2, 6, NULL, NULL, '{"index":5,"role":"user","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (8589934600, 1795731007068, 1396537047, 1, 2, 7, NULL, NULL, '{"index":6,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-1","name":"find_order","arguments":"{\"order\":\"KX-4471\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (8589934601, 1795731007068, 1758891001, 1, 2, 8, NULL, NULL, '{"index":7,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-1","output":"{\"order\":\"KX-4471\",\"state\":\"sent on day 1\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (8589934602, 1795731007068, 462068538, 1, 2, 9, NULL, NULL, '{"index":8,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 1 is what was asked for.","signature":"signed-1"},{"type":"text","text":"Order KX-4471 was sent on day 1. It weighs 1.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (8589934603, 1795731007697, 383302318, 3, 1, 10, NULL, NULL, '{"from":0,"to":9,"facts":[{"id":"scope.0@0-9v10.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":1,"to":5},{"id":"scope.1@0-9v10.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":5,"to":9}]}');
INSERT INTO memfold.events VALUES (8589934604, 1795731007878, 1826370934, 1, 2, 11, NULL, NULL, '{"index":9,"role":"user","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (12884901910, 1795731010149, 3999627772, 7, 1, 0, NULL, '01m8cyhck5yzh8fd56mg', '{"version":21,"index":12}');
INSERT INTO memfold.events VALUES (4294967328, 1795731008823, 3970016775, 4, 1, 0, -185427, '01m8cyhb9qb5tfywxyer', '{"compaction":"01m8cyhb9qb5tfywxyer","strategy":"rounds","reason":"demand","from":9,"to":17,"tailFrom":17,"parts":[{"kind":"block","from":9,"to":17}],"leaseUntil":1795731038823}');
INSERT INTO memfold.events VALUES (4294967331, 1795731008888, 1932044861, 1, 2, 0, NULL, '01m8cyhbbrvk7je4adxc', '{"index":25,"role":"user","text":"Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (4294967332, 1795731008888, 1959888417, 1, 2, 1, NULL, NULL, '{"index":26,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-6","name":"find_order","arguments":"{\"order\":\"KX-4476\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (4294967333, 1795731008888, 1045137990, 1, 2, 2, NULL, NULL, '{"index":27,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-6","output":"{\"order\":\"KX-4476\",\"state\":\"sent on day 6\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (4294967334, 1795731008888, 2858692181, 1, 2, 3, NULL, NULL, '{"index":28,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 6 is what was asked for.","signature":"signed-6"},{"type":"text","text":"Order KX-4476 was sent on day 6. It weighs 6.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (4294967339, 1795731008961, 730400779, 3, 1, 0, NULL, '01m8cyhbe1ear4rcj72y', '{"from":25,"to":33,"facts":[{"id":"scope.0@25-33v42.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦 → Order KX-4476 was sent on day 6. It weighs 6.5 kg.","from":25,"to":29},{"id":"scope.1@25-33v42.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 7: wo ist Bestellung KX-4477? 订单在哪里？ 📦 → Order KX-4477 was sent on day 7. It weighs 7.5 kg.","from":29,"to":33}]}');
INSERT INTO memfold.events VALUES (4294967341, 1795731009025, 3459798020, 5, 1, 0, -4372676, '01m8cyhbg1rmrym8qkae', '{"compaction":"01m8cyhbf0t3m3r87z2h","summary":"01m8cyhbg1rmrym8qkae","coveredTo":25,"carried":2,"segments":[{"kind":"block","from":17,"to":25,"text":"- user: Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦\n- assistant: It weighs 4.5 kg.\n- user: Question 5: wo ist Bestellung KX-4475?\n- assistant: It weighs 5.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":195,"tokensBefore":554,"tokensAfter":411}');
INSERT INTO memfold.events VALUES (4294967342, 1795731009025, 2541414561, 6, 1, 1, NULL, NULL, '{"summary":"01m8cyhbah9epwnrfrsg","by":"01m8cyhbg1rmrym8qkae"}');
INSERT INTO memfold.events VALUES (4294967345, 1795731009092, 3234608270, 1, 2, 0, NULL, '01m8cyhbj4fsxzasth34', '{"index":35,"role":"user","text":"My name is Ada. I live in Zürich.","tokens":14}');
INSERT INTO memfold.events VALUES (4294967346, 1795731009092, 2649123514, 1, 2, 1, NULL, NULL, '{"index":36,"role":"assistant","text":"Noted.","tokens":6}');
INSERT INTO memfold.events VALUES (4294967348, 1795731009368, 2364884162, 4, 1, 0, -2255000, '01m8cyhbtrq60vkn50zg', '{"compaction":"01m8cyhbtrq60vkn50zg","strategy":"rounds","reason":"demand","from":25,"to":33,"tailFrom":33,"parts":[{"kind":"block","from":25,"to":33}],"leaseUntil":1795731039368}');
INSERT INTO memfold.events VALUES (12884901889, 1795731009784, 1386783380, 1, 2, 0, NULL, '01m8cyhc7q45zkyc1smp', '{"index":0,"role":"user","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (12884901890, 1795731009784, 2369243603, 1, 2, 1, NULL, NULL, '{"index":1,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-0","name":"find_order","arguments":"{\"order\":\"KX-4470\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (12884901891, 1795731009784, 548347152, 1, 2, 2, NULL, NULL, '{"index":2,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-0","output":"{\"order\":\"KX-4470\",\"state\":\"sent on day 0\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (12884901892, 1795731009784, 4276513456, 1, 2, 3, NULL, NULL, '{"index":3,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 0 is what was asked for.","signature":"signed-0"},{"type":"text","text":"Order KX-4470 was sent on day 0. It weighs 0.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (12884901893, 1795731009784, 3904908270, 2, 1, 4, NULL, NULL, '{"owner":"ada","title":"Orders edited"}');
INSERT INTO memfold.events VALUES (12884901898, 1795731009863, 2839177773, 3, 1, 0, NULL, '01m8cyhca743wdsc9xpk', '{"from":0,"to":8,"facts":[{"id":"scope.0@0-8v9.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":0,"to":4},{"id":"scope.1@0-8v9.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":4,"to":8}]}');
INSERT INTO memfold.events VALUES (12884901903, 1795731009879, 109809441, 1, 2, 0, NULL, '01m8cyhcaqwz4zsfbfx1', '{"index":12,"role":"user","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (12884901904, 1795731009879, 3155623403, 1, 2, 1, NULL, NULL, '{"index":13,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-3","name":"find_order","arguments":"{\"order\":\"KX-4473\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (12884901905, 1795731009879, 1474477579, 1, 2, 2, NULL, NULL, '{"index":14,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-3","output":"{\"order\":\"KX-4473\",\"state\":\"sent on day 3\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (12884901906, 1795731009879, 3982753017, 1, 2, 3, NULL, NULL, '{"index":15,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 3 is what was asked for.","signature":"signed-3"},{"type":"text","text":"Order KX-4473 was sent on day 3. It weighs 3.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (12884901908, 1795731009941, 1826030537, 4, 1, 0, 1610943, '01m8cyhccns35f8zqvwk', '{"compaction":"01m8cyhccns35f8zqvwk","strategy":"rounds","reason":"demand","from":0,"to":8,"tailFrom":8,"parts":[{"kind":"block","from":0,"to":8}],"leaseUntil":1795731039941}');
INSERT INTO memfold.events VALUES (12884901912, 1795731010158, 462234388, 1, 2, 0, NULL, '01m8cyhckea12m8xzgkn', '{"index":13,"role":"assistant","text":"It was sent today.","tokens":9}');
INSERT INTO memfold.events VALUES (12884901914, 1795731010189, 1590948974, 1, 2, 0, NULL, '01m8cyhcmd1ep47mrwpp', '{"index":13,"role":"assistant","text":"It was sent yesterday.","tokens":9}');
INSERT INTO memfold.events VALUES (17179869191, 1795731010258, 394271117, 1, 2, 1, NULL, NULL, '{"index":5,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-1","name":"find_order","arguments":"{\"order\":\"KX-4471\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (17179869192, 1795731010258, 2613667553, 1, 2, 2, NULL, NULL, '{"index":6,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-1","output":"{\"order\":\"KX-4471\",\"state\":\"sent on day 1\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (17179869193, 1795731010258, 620183418, 1, 2, 3, NULL, NULL, '{"index":7,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 1 is what was asked for.","signature":"signed-1"},{"type":"text","text":"Order KX-4471 was sent on day 1. It weighs 1.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (17179869195, 1795731010375, 1724207363, 1, 2, 0, NULL, '01m8cyhct7a6vjdqftq9', '{"index":8,"role":"user","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (17179869196, 1795731010375, 1726024789, 1, 2, 1, NULL, NULL, '{"index":9,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-2","name":"find_order","arguments":"{\"order\":\"KX-4472\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (8589934605, 1795731007878, 3487074452, 1, 2, 12, NULL, NULL, '{"index":10,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-2","name":"find_order","arguments":"{\"order\":\"KX-4472\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (8589934606, 1795731007878, 4100818481, 1, 2, 13, NULL, NULL, '{"index":11,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-2","output":"{\"order\":\"KX-4472\",\"state\":\"sent on day 2\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (8589934607, 1795731007878, 509967115, 1, 2, 14, NULL, NULL, '{"index":12,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 2 is what was asked for.","signature":"signed-2"},{"type":"text","text":"Order KX-4472 was sent on day 2. It weighs 2.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (8589934608, 1795731007960, 3739979341, 1, 2, 15, NULL, NULL, '{"index":13,"role":"user","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (8589934609, 1795731007960, 2069588811, 1, 2, 16, NULL, NULL, '{"index":14,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-3","name":"find_order","arguments":"{\"order\":\"KX-4473\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (8589934610, 1795731007960, 3919708449, 1, 2, 17, NULL, NULL, '{"index":15,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-3","output":"{\"order\":\"KX-4473\",\"state\":\"sent on day 3\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (8589934611, 1795731007960, 1950720657, 1, 2, 18, NULL, NULL, '{"index":16,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 3 is what was asked for.","signature":"signed-3"},{"type":"text","text":"Order KX-4473 was sent on day 3. It weighs 3.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (8589934612, 1795731008062, 909480421, 3, 1, 19, NULL, NULL, '{"from":9,"to":17,"facts":[{"id":"scope.0@9-17v19.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":9,"to":13},{"id":"scope.1@9-17v19.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":13,"to":17}]}');
INSERT INTO memfold.events VALUES (8589934613, 1795731008121, 718011300, 4, 1, 20, NULL, NULL, '{"compaction":"01m8cyhaks8k5r9402nz","strategy":"rounds","reason":"demand","from":0,"to":9,"tailFrom":9,"parts":[{"kind":"block","from":0,"to":9}],"leaseUntil":1795731038121}');
INSERT INTO memfold.events VALUES (8589934614, 1795731008627, 19209927, 5, 1, 21, NULL, NULL, '{"compaction":"01m8cyhaks8k5r9402nz","summary":"01m8cyhb3hmp258jnpn4","coveredTo":9,"carried":0,"segments":[{"kind":"block","from":0,"to":9,"text":"- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦\n- assistant: It weighs 0.5 kg.\n- user: Question 1: wo ist Bestellung KX-4471?\n- assistant: It weighs 1.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":70,"tokensBefore":422,"tokensAfter":286}');
INSERT INTO memfold.events VALUES (8589934615, 1795731008767, 2251809080, 1, 2, 22, NULL, NULL, '{"index":17,"role":"user","text":"Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (8589934616, 1795731008767, 3470456144, 1, 2, 23, NULL, NULL, '{"index":18,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-4","name":"find_order","arguments":"{\"order\":\"KX-4474\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (8589934617, 1795731008767, 3541984798, 1, 2, 24, NULL, NULL, '{"index":19,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-4","output":"{\"order\":\"KX-4474\",\"state\":\"sent on day 4\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (8589934618, 1795731008767, 2702245776, 1, 2, 25, NULL, NULL, '{"index":20,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 4 is what was asked for.","signature":"signed-4"},{"type":"text","text":"Order KX-4474 was sent on day 4. It weighs 4.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (8589934619, 1795731008774, 4092238246, 1, 2, 26, NULL, NULL, '{"index":21,"role":"user","text":"Question 5: wo ist Bestellung KX-4475? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (8589934620, 1795731008774, 940863776, 1, 2, 27, NULL, NULL, '{"index":22,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-5","name":"find_order","arguments":"{\"order\":\"KX-4475\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (8589934621, 1795731008774, 224869648, 1, 2, 28, NULL, NULL, '{"index":23,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-5","output":"{\"order\":\"KX-4475\",\"state\":\"sent on day 5\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (8589934622, 1795731008774, 376202226, 1, 2, 29, NULL, NULL, '{"index":24,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 5 is what was asked for.","signature":"signed-5"},{"type":"text","text":"Order KX-4475 was sent on day 5. It weighs 5.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (8589934623, 1795731008805, 1150658532, 3, 1, 30, NULL, NULL, '{"from":17,"to":25,"facts":[{"id":"scope.0@17-25v30.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦 → Order KX-4474 was sent on day 4. It weighs 4.5 kg.","from":17,"to":21},{"id":"scope.1@17-25v30.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 5: wo ist Bestellung KX-4475? 订单在哪里？ 📦 → Order KX-4475 was sent on day 5. It weighs 5.5 kg.","from":21,"to":25}]}');
INSERT INTO memfold.events VALUES (8589934624, 1795731008823, 858056150, 4, 1, 31, NULL, NULL, '{"compaction":"01m8cyhb9qb5tfywxyer","strategy":"rounds","reason":"demand","from":9,"to":17,"tailFrom":17,"parts":[{"kind":"block","from":9,"to":17}],"leaseUntil":1795731038823}');
INSERT INTO memfold.events VALUES (8589934625, 1795731008850, 3228441635, 5, 1, 32, NULL, NULL, '{"compaction":"01m8cyhb9qb5tfywxyer","summary":"01m8cyhbah54ez16kbcg","coveredTo":17,"carried":1,"segments":[{"kind":"block","from":9,"to":17,"text":"- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦\n- assistant: It weighs 2.5 kg.\n- user: Question 3: wo ist Bestellung KX-4473?\n- assistant: It weighs 3.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":132,"tokensBefore":492,"tokensAfter":348}');
INSERT INTO memfold.events VALUES (8589934626, 1795731008850, 1506378944, 6, 1, 33, NULL, NULL, '{"summary":"01m8cyhb3hmp258jnpn4","by":"01m8cyhbah54ez16kbcg"}');
INSERT INTO memfold.events VALUES (8589934627, 1795731008888, 4164472135, 1, 2, 34, NULL, NULL, '{"index":25,"role":"user","text":"Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (8589934628, 1795731008888, 3337680124, 1, 2, 35, NULL, NULL, '{"index":26,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-6","name":"find_order","arguments":"{\"order\":\"KX-4476\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (8589934629, 1795731008888, 2441907033, 1, 2, 36, NULL, NULL, '{"index":27,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-6","output":"{\"order\":\"KX-4476\",\"state\":\"sent on day 6\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (8589934630, 1795731008888, 2823434730, 1, 2, 37, NULL, NULL, '{"index":28,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 6 is what was asked for.","signature":"signed-6"},{"type":"text","text":"Order KX-4476 was sent on day 6. It weighs 6.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (8589934631, 1795731008907, 3862334850, 1, 2, 38, NULL, NULL, '{"index":29,"role":"user","text":"Question 7: wo ist Bestellung KX-4477? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (8589934632, 1795731008907, 723898797, 1, 2, 39, NULL, NULL, '{"index":30,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-7","name":"find_order","arguments":"{\"order\":\"KX-4477\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (8589934633, 1795731008907, 1656442321, 1, 2, 40, NULL, NULL, '{"index":31,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-7","output":"{\"order\":\"KX-4477\",\"state\":\"sent on day 7\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (8589934634, 1795731008907, 1757919099, 1, 2, 41, NULL, NULL, '{"index":32,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 7 is what was asked for.","signature":"signed-7"},{"type":"text","text":"Order KX-4477 was sent on day 7. It weighs 7.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (8589934635, 1795731008961, 4183945620, 3, 1, 42, NULL, NULL, '{"from":25,"to":33,"facts":[{"id":"scope.0@25-33v42.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦 → Order KX-4476 was sent on day 6. It weighs 6.5 kg.","from":25,"to":29},{"id":"scope.1@25-33v42.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 7: wo ist Bestellung KX-4477? 订单在哪里？ 📦 → Order KX-4477 was sent on day 7. It weighs 7.5 kg.","from":29,"to":33}]}');
INSERT INTO memfold.events VALUES (8589934636, 1795731008992, 1201485723, 4, 1, 43, NULL, NULL, '{"compaction":"01m8cyhbf0t3m3r87z2h","strategy":"rounds","reason":"demand","from":17,"to":25,"tailFrom":25,"parts":[{"kind":"block","from":17,"to":25}],"leaseUntil":1795731038992}');
INSERT INTO memfold.events VALUES (8589934637, 1795731009025, 3647841367, 5, 1, 44, NULL, NULL, '{"compaction":"01m8cyhbf0t3m3r87z2h","summary":"01m8cyhbg109jcvdd78m","coveredTo":25,"carried":2,"segments":[{"kind":"block","from":17,"to":25,"text":"- user: Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦\n- assistant: It weighs 4.5 kg.\n- user: Question 5: wo ist Bestellung KX-4475?\n- assistant: It weighs 5.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":195,"tokensBefore":554,"tokensAfter":411}');
INSERT INTO memfold.events VALUES (8589934638, 1795731009025, 3276188346, 6, 1, 45, NULL, NULL, '{"summary":"01m8cyhbah54ez16kbcg","by":"01m8cyhbg109jcvdd78m"}');
INSERT INTO memfold.events VALUES (8589934639, 1795731009086, 3768593071, 1, 2, 46, NULL, NULL, '{"index":33,"message":{"role":"user","parts":[{"type":"text","text":"What is on this picture?"},{"type":"file","mediaType":"image/png","uri":"data:image/png;base64,iVBORw0KGgo="}]},"tokens":1010}');
INSERT INTO memfold.events VALUES (8589934640, 1795731009086, 1584151081, 1, 2, 47, NULL, NULL, '{"index":34,"role":"assistant","text":"A box.","tokens":7}');
INSERT INTO memfold.events VALUES (8589934641, 1795731009092, 1253089416, 1, 2, 48, NULL, NULL, '{"index":35,"role":"user","text":"My name is Ada. I live in Zürich.","tokens":14}');
INSERT INTO memfold.events VALUES (8589934642, 1795731009092, 3694733264, 1, 2, 49, NULL, NULL, '{"index":36,"role":"assistant","text":"Noted.","tokens":6}');
INSERT INTO memfold.events VALUES (8589934643, 1795731009353, 2906398909, 3, 1, 50, NULL, NULL, '{"from":33,"to":37,"facts":[{"id":"user.0@33-37v50.1795731006523.0.support","layer":"user","kind":"profile","text":"Name: Ada","key":"name","from":35,"to":36},{"id":"user.1@33-37v50.1795731006523.0.support","layer":"user","kind":"profile","text":"Lives in: Zürich","key":"place","from":35,"to":36},{"id":"scope.0@33-37v50.1795731006523.0.support","layer":"scope","kind":"digest","text":"What is on this picture? → A box.","from":33,"to":35},{"id":"scope.1@33-37v50.1795731006523.0.support","layer":"scope","kind":"digest","text":"My name is Ada. I live in Zürich. → Noted.","from":35,"to":37}]}');
INSERT INTO memfold.events VALUES (8589934644, 1795731009368, 2878597757, 4, 1, 51, NULL, NULL, '{"compaction":"01m8cyhbtrq60vkn50zg","strategy":"rounds","reason":"demand","from":25,"to":33,"tailFrom":33,"parts":[{"kind":"block","from":25,"to":33}],"leaseUntil":1795731039368}');
INSERT INTO memfold.events VALUES (8589934645, 1795731009495, 4144473084, 5, 1, 52, NULL, NULL, '{"compaction":"01m8cyhbtrq60vkn50zg","summary":"01m8cyhbyqgdff1sr0jy","coveredTo":33,"carried":3,"segments":[{"kind":"block","from":25,"to":33,"text":"- user: Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦\n- assistant: It weighs 6.5 kg.\n- user: Question 7: wo ist Bestellung KX-4477?\n- assistant: It weighs 7.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":257,"tokensBefore":1448,"tokensAfter":1304}');
INSERT INTO memfold.events VALUES (8589934646, 1795731009495, 2417135880, 6, 1, 53, NULL, NULL, '{"summary":"01m8cyhbg109jcvdd78m","by":"01m8cyhbyqgdff1sr0jy"}');
INSERT INTO memfold.events VALUES (12884901894, 1795731009828, 3320731108, 1, 2, 0, NULL, '01m8cyhc94g0dmtrsr5h', '{"index":4,"role":"user","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (12884901895, 1795731009828, 434805962, 1, 2, 1, NULL, NULL, '{"index":5,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-1","name":"find_order","arguments":"{\"order\":\"KX-4471\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (12884901896, 1795731009828, 3106129638, 1, 2, 2, NULL, NULL, '{"index":6,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-1","output":"{\"order\":\"KX-4471\",\"state\":\"sent on day 1\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (12884901897, 1795731009828, 2665560445, 1, 2, 3, NULL, NULL, '{"index":7,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 1 is what was asked for.","signature":"signed-1"},{"type":"text","text":"Order KX-4471 was sent on day 1. It weighs 1.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (12884901899, 1795731009876, 3827657322, 1, 2, 0, NULL, '01m8cyhcamx70ynmvr5g', '{"index":8,"role":"user","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (12884901900, 1795731009876, 4139196971, 1, 2, 1, NULL, NULL, '{"index":9,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-2","name":"find_order","arguments":"{\"order\":\"KX-4472\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (12884901901, 1795731009876, 1916120505, 1, 2, 2, NULL, NULL, '{"index":10,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-2","output":"{\"order\":\"KX-4472\",\"state\":\"sent on day 2\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (12884901902, 1795731009876, 1883467668, 1, 2, 3, NULL, NULL, '{"index":11,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 2 is what was asked for.","signature":"signed-2"},{"type":"text","text":"Order KX-4472 was sent on day 2. It weighs 2.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (12884901907, 1795731009933, 1093380869, 3, 1, 0, NULL, '01m8cyhccdavc8sp9f5e', '{"from":8,"to":16,"facts":[{"id":"scope.0@8-16v18.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":8,"to":12},{"id":"scope.1@8-16v18.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":12,"to":16}]}');
INSERT INTO memfold.events VALUES (12884901909, 1795731009985, 4020337033, 5, 1, 0, 4610659, '01m8cyhce0cg6mts8dxq', '{"compaction":"01m8cyhccns35f8zqvwk","summary":"01m8cyhce0cg6mts8dxq","coveredTo":8,"carried":0,"segments":[{"kind":"block","from":0,"to":8,"text":"- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦\n- assistant: It weighs 0.5 kg.\n- user: Question 1: wo ist Bestellung KX-4471?\n- assistant: It weighs 1.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":70,"tokensBefore":412,"tokensAfter":276}');
INSERT INTO memfold.events VALUES (12884901911, 1795731010149, 4057352655, 1, 2, 1, NULL, NULL, '{"index":12,"role":"user","text":"Where is order KX-9000?","tokens":12}');
INSERT INTO memfold.events VALUES (12884901913, 1795731010175, 3640850160, 7, 1, 0, NULL, '01m8cyhckzk8vk6pnzts', '{"version":24,"index":13}');
INSERT INTO memfold.events VALUES (17179869185, 1795731010248, 4282373405, 1, 2, 0, NULL, '01m8cyhcmne31rgbtdcp', '{"index":0,"role":"user","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (17179869186, 1795731010248, 590860850, 1, 2, 1, NULL, NULL, '{"index":1,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-0","name":"find_order","arguments":"{\"order\":\"KX-4470\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (17179869187, 1795731010248, 3987716177, 1, 2, 2, NULL, NULL, '{"index":2,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-0","output":"{\"order\":\"KX-4470\",\"state\":\"sent on day 0\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (17179869188, 1795731010248, 1519771775, 1, 2, 3, NULL, NULL, '{"index":3,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 0 is what was asked for.","signature":"signed-0"},{"type":"text","text":"Order KX-4470 was sent on day 0. It weighs 0.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (17179869189, 1795731010248, 1617509894, 2, 1, 4, NULL, NULL, '{"owner":"ada","title":"Orders redacted"}');
INSERT INTO memfold.events VALUES (17179869199, 1795731010385, 3796565870, 1, 2, 0, NULL, '01m8cyhcthmy8w6ymy4m', '{"index":12,"role":"user","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (17179869200, 1795731010385, 3574873788, 1, 2, 1, NULL, NULL, '{"index":13,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-3","name":"find_order","arguments":"{\"order\":\"KX-4473\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (17179869201, 1795731010385, 2692059024, 1, 2, 2, NULL, NULL, '{"index":14,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-3","output":"{\"order\":\"KX-4473\",\"state\":\"sent on day 3\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (17179869202, 1795731010385, 2895764647, 1, 2, 3, NULL, NULL, '{"index":15,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 3 is what was asked for.","signature":"signed-3"},{"type":"text","text":"Order KX-4473 was sent on day 3. It weighs 3.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (17179869204, 1795731010439, 1227267579, 4, 1, 0, -1262172, '01m8cyhcw75krgnbajfg', '{"compaction":"01m8cyhcw75krgnbajfg","strategy":"rounds","reason":"demand","from":0,"to":8,"tailFrom":8,"parts":[{"kind":"block","from":0,"to":8}],"leaseUntil":1795731040439}');
INSERT INTO memfold.events VALUES (17179869210, 1795731010572, 2418674721, 8, 1, 0, -2008891, '01m8cyhcy01g0mv1h85b', '{"version":6,"rewritten":[6,10,21]}');
INSERT INTO memfold.events VALUES (17179869211, 1795731010572, 152199827, 9, 1, 1, NULL, NULL, '{"version":21,"summary":"01m8cyhcwq4xa7f2wegd","reason":"redacted"}');
INSERT INTO memfold.events VALUES (17179869190, 1795731010258, 2975377637, 1, 2, 0, NULL, '01m8cyhcpj7zrexj63wy', '{"index":4,"role":"user","text":"[redacted]","tokens":7}');
INSERT INTO memfold.events VALUES (17179869194, 1795731010359, 3769924490, 3, 1, 0, NULL, '01m8cyhcsqgtg17qg0ey', '{"from":0,"to":8,"facts":[{"id":"scope.0@0-8v9.1795731010248.0.redacted","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":0,"to":4}]}');
INSERT INTO memfold.events VALUES (21474836486, 1795731011400, 1367819594, 1, 2, 0, NULL, '01m8cyhdt8mw9vm6ezb6', '{"index":4,"role":"user","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (21474836487, 1795731011400, 2821925023, 1, 2, 1, NULL, NULL, '{"index":5,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-1","name":"find_order","arguments":"{\"order\":\"KX-4471\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (21474836488, 1795731011400, 3001264571, 1, 2, 2, NULL, NULL, '{"index":6,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-1","output":"{\"order\":\"KX-4471\",\"state\":\"sent on day 1\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (21474836489, 1795731011400, 407163949, 1, 2, 3, NULL, NULL, '{"index":7,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 1 is what was asked for.","signature":"signed-1"},{"type":"text","text":"Order KX-4471 was sent on day 1. It weighs 1.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (21474836491, 1795731011712, 3277295742, 1, 2, 0, NULL, '01m8cyhe40p8j5hepa5p', '{"index":8,"role":"user","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (21474836492, 1795731011712, 1737017385, 1, 2, 1, NULL, NULL, '{"index":9,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-2","name":"find_order","arguments":"{\"order\":\"KX-4472\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (21474836493, 1795731011712, 1665552157, 1, 2, 2, NULL, NULL, '{"index":10,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-2","output":"{\"order\":\"KX-4472\",\"state\":\"sent on day 2\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (21474836494, 1795731011712, 847334799, 1, 2, 3, NULL, NULL, '{"index":11,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 2 is what was asked for.","signature":"signed-2"},{"type":"text","text":"Order KX-4472 was sent on day 2. It weighs 2.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (21474836496, 1795731011759, 1960331381, 1, 2, 0, NULL, '01m8cyhe5f8d0q6brsq4', '{"index":0,"role":"user","text":"Question 9: wo ist Bestellung KX-4479? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (21474836497, 1795731011759, 1049667216, 1, 2, 1, NULL, NULL, '{"index":1,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-9","name":"find_order","arguments":"{\"order\":\"KX-4479\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (21474836498, 1795731011759, 3823572360, 1, 2, 2, NULL, NULL, '{"index":2,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-9","output":"{\"order\":\"KX-4479\",\"state\":\"sent on day 9\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (21474836499, 1795731011759, 4202931240, 1, 2, 3, NULL, NULL, '{"index":3,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 9 is what was asked for.","signature":"signed-9"},{"type":"text","text":"Order KX-4479 was sent on day 9. It weighs 9.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (25769803782, 1795731011810, 3230175889, 1, 2, 0, NULL, '01m8cyhe7263a1a7jqvn', '{"index":4,"role":"user","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (25769803783, 1795731011810, 3514388352, 1, 2, 1, NULL, NULL, '{"index":5,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-1","name":"find_order","arguments":"{\"order\":\"KX-4471\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (25769803784, 1795731011810, 2892966548, 1, 2, 2, NULL, NULL, '{"index":6,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-1","output":"{\"order\":\"KX-4471\",\"state\":\"sent on day 1\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (25769803785, 1795731011810, 1353041523, 1, 2, 3, NULL, NULL, '{"index":7,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 1 is what was asked for.","signature":"signed-1"},{"type":"text","text":"Order KX-4471 was sent on day 1. It weighs 1.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (25769803786, 1795731011854, 16229200, 3, 1, 0, NULL, '01m8cyhe8esgn6pj9bmf', '{"from":0,"to":8,"facts":[{"id":"scope.0@0-8v9.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":0,"to":4},{"id":"scope.1@0-8v9.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":4,"to":8}]}');
INSERT INTO memfold.events VALUES (17179869197, 1795731010375, 2773816734, 1, 2, 2, NULL, NULL, '{"index":10,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-2","output":"{\"order\":\"KX-4472\",\"state\":\"sent on day 2\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (17179869198, 1795731010375, 1184846413, 1, 2, 3, NULL, NULL, '{"index":11,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 2 is what was asked for.","signature":"signed-2"},{"type":"text","text":"Order KX-4472 was sent on day 2. It weighs 2.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (17179869203, 1795731010431, 243581086, 3, 1, 0, NULL, '01m8cyhcvzhj9fm3xjph', '{"from":8,"to":16,"facts":[{"id":"scope.0@8-16v18.1795731010248.0.redacted","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":8,"to":12},{"id":"scope.1@8-16v18.1795731010248.0.redacted","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":12,"to":16}]}');
INSERT INTO memfold.events VALUES (17179869206, 1795731010488, 943523641, 1, 2, 0, NULL, '01m8cyhcxr8c5a1t7pw4', '{"index":16,"role":"user","text":"Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (17179869207, 1795731010488, 1284979418, 1, 2, 1, NULL, NULL, '{"index":17,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-4","name":"find_order","arguments":"{\"order\":\"KX-4474\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (17179869208, 1795731010488, 1268356503, 1, 2, 2, NULL, NULL, '{"index":18,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-4","output":"{\"order\":\"KX-4474\",\"state\":\"sent on day 4\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (17179869209, 1795731010488, 2003398932, 1, 2, 3, NULL, NULL, '{"index":19,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 4 is what was asked for.","signature":"signed-4"},{"type":"text","text":"Order KX-4474 was sent on day 4. It weighs 4.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (17179869205, 1795731010455, 2032573974, 5, 1, 0, 490393, '01m8cyhcwq4xa7f2wegd', '{"compaction":"01m8cyhcw75krgnbajfg","summary":"01m8cyhcwq4xa7f2wegd","coveredTo":8,"carried":0,"segments":[{"kind":"block","from":0,"to":8,"text":"[redacted]"}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":70,"tokensBefore":412,"tokensAfter":276}');
INSERT INTO memfold.events VALUES (21474836481, 1795731011348, 2227224494, 1, 2, 0, NULL, '01m8cyhdrj41ch7gf8v4', '{"index":0,"role":"user","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (21474836482, 1795731011348, 2427534926, 1, 2, 1, NULL, NULL, '{"index":1,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-0","name":"find_order","arguments":"{\"order\":\"KX-4470\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (21474836483, 1795731011348, 3348730750, 1, 2, 2, NULL, NULL, '{"index":2,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-0","output":"{\"order\":\"KX-4470\",\"state\":\"sent on day 0\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (21474836484, 1795731011348, 3148483603, 1, 2, 3, NULL, NULL, '{"index":3,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 0 is what was asked for.","signature":"signed-0"},{"type":"text","text":"Order KX-4470 was sent on day 0. It weighs 0.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (21474836485, 1795731011348, 3127615776, 2, 1, 4, NULL, NULL, '{"owner":"ada","title":"Orders cleared"}');
INSERT INTO memfold.events VALUES (21474836490, 1795731011697, 2237485845, 3, 1, 0, NULL, '01m8cyhe3h3mc5n19vf8', '{"from":0,"to":8,"facts":[{"id":"scope.0@0-8v9.1795731011348.0.cleared","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":0,"to":4},{"id":"scope.1@0-8v9.1795731011348.0.cleared","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":4,"to":8}]}');
INSERT INTO memfold.events VALUES (21474836495, 1795731011735, 3225702471, 10, 1, 0, NULL, '01m8cyhe4qy2mx6pwrdx', '{}');
INSERT INTO memfold.events VALUES (25769803777, 1795731011772, 2823367684, 1, 2, 0, NULL, '01m8cyhe5r6dr27wynx6', '{"index":0,"role":"user","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (25769803778, 1795731011772, 2101025397, 1, 2, 1, NULL, NULL, '{"index":1,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-0","name":"find_order","arguments":"{\"order\":\"KX-4470\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (25769803779, 1795731011772, 3341317405, 1, 2, 2, NULL, NULL, '{"index":2,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-0","output":"{\"order\":\"KX-4470\",\"state\":\"sent on day 0\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (25769803780, 1795731011772, 1197636228, 1, 2, 3, NULL, NULL, '{"index":3,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 0 is what was asked for.","signature":"signed-0"},{"type":"text","text":"Order KX-4470 was sent on day 0. It weighs 0.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (25769803781, 1795731011772, 2979766654, 2, 1, 4, NULL, NULL, '{"owner":"ada","title":"Orders taken back"}');
INSERT INTO memfold.events VALUES (25769803787, 1795731011876, 2288569627, 1, 2, 0, NULL, '01m8cyhe94axy5reydyt', '{"index":8,"role":"user","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (25769803788, 1795731011876, 349912230, 1, 2, 1, NULL, NULL, '{"index":9,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-2","name":"find_order","arguments":"{\"order\":\"KX-4472\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (25769803789, 1795731011876, 194852644, 1, 2, 2, NULL, NULL, '{"index":10,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-2","output":"{\"order\":\"KX-4472\",\"state\":\"sent on day 2\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (25769803790, 1795731011876, 1274848282, 1, 2, 3, NULL, NULL, '{"index":11,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 2 is what was asked for.","signature":"signed-2"},{"type":"text","text":"Order KX-4472 was sent on day 2. It weighs 2.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (25769803795, 1795731011941, 179211509, 3, 1, 0, NULL, '01m8cyheb5gwdkzywx4m', '{"from":8,"to":16,"facts":[{"id":"scope.0@8-16v18.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":8,"to":12},{"id":"scope.1@8-16v18.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":12,"to":16}]}');
INSERT INTO memfold.events VALUES (25769803797, 1795731012132, 570267929, 5, 1, 0, 5276141, '01m8cyheh39713pzqhk3', '{"compaction":"01m8cyhee6478rhx598q","summary":"01m8cyheh39713pzqhk3","coveredTo":8,"carried":0,"segments":[{"kind":"block","from":0,"to":8,"text":"- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦\n- assistant: It weighs 0.5 kg.\n- user: Question 1: wo ist Bestellung KX-4471?\n- assistant: It weighs 1.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":70,"tokensBefore":412,"tokensAfter":276}');
INSERT INTO memfold.events VALUES (25769803798, 1795731012196, 3469987065, 1, 2, 0, NULL, '01m8cyhek4h1h7r5xb9r', '{"index":16,"role":"user","text":"Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (25769803791, 1795731011889, 615770179, 1, 2, 0, NULL, '01m8cyhe9hkrq1qpf5ks', '{"index":12,"role":"user","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (25769803792, 1795731011889, 3157279704, 1, 2, 1, NULL, NULL, '{"index":13,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-3","name":"find_order","arguments":"{\"order\":\"KX-4473\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (25769803793, 1795731011889, 2404402582, 1, 2, 2, NULL, NULL, '{"index":14,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-3","output":"{\"order\":\"KX-4473\",\"state\":\"sent on day 3\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (25769803794, 1795731011889, 2498257926, 1, 2, 3, NULL, NULL, '{"index":15,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 3 is what was asked for.","signature":"signed-3"},{"type":"text","text":"Order KX-4473 was sent on day 3. It weighs 3.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (25769803796, 1795731012038, 1873726189, 4, 1, 0, 2342125, '01m8cyhee6478rhx598q', '{"compaction":"01m8cyhee6478rhx598q","strategy":"rounds","reason":"demand","from":0,"to":8,"tailFrom":8,"parts":[{"kind":"block","from":0,"to":8}],"leaseUntil":1795731042038}');
INSERT INTO memfold.events VALUES (25769803802, 1795731012212, 3734138304, 1, 2, 0, NULL, '01m8cyhekma3a2rtadfp', '{"index":20,"role":"user","text":"Question 5: wo ist Bestellung KX-4475? 订单在哪里？ 📦","tokens":24}');
INSERT INTO memfold.events VALUES (25769803803, 1795731012212, 312459086, 1, 2, 1, NULL, NULL, '{"index":21,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-5","name":"find_order","arguments":"{\"order\":\"KX-4475\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (25769803804, 1795731012212, 515309789, 1, 2, 2, NULL, NULL, '{"index":22,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-5","output":"{\"order\":\"KX-4475\",\"state\":\"sent on day 5\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (25769803805, 1795731012212, 1217835670, 1, 2, 3, NULL, NULL, '{"index":23,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 5 is what was asked for.","signature":"signed-5"},{"type":"text","text":"Order KX-4475 was sent on day 5. It weighs 5.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (25769803807, 1795731012247, 488570429, 4, 1, 0, 923843, '01m8cyhemqm34bk89g0s', '{"compaction":"01m8cyhemqm34bk89g0s","strategy":"rounds","reason":"demand","from":8,"to":16,"tailFrom":16,"parts":[{"kind":"block","from":8,"to":16}],"leaseUntil":1795731042247}');
INSERT INTO memfold.events VALUES (25769803810, 1795731012420, 3726259486, 9, 1, 0, NULL, '01m8cyhet4vfgz2fycdz', '{"version":32,"summary":"01m8cyhene2hfgkn89vb","reason":"undone"}');
INSERT INTO memfold.events VALUES (25769803811, 1795731012420, 1055020598, 11, 1, 1, NULL, NULL, '{"until":44}');
INSERT INTO memfold.events VALUES (25769803799, 1795731012196, 1024541029, 1, 2, 1, NULL, NULL, '{"index":17,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-4","name":"find_order","arguments":"{\"order\":\"KX-4474\"}"}]},"tokens":20}');
INSERT INTO memfold.events VALUES (25769803800, 1795731012196, 4011065042, 1, 2, 2, NULL, NULL, '{"index":18,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-4","output":"{\"order\":\"KX-4474\",\"state\":\"sent on day 4\"}"}]},"tokens":26}');
INSERT INTO memfold.events VALUES (25769803801, 1795731012196, 4126013752, 1, 2, 3, NULL, NULL, '{"index":19,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 4 is what was asked for.","signature":"signed-4"},{"type":"text","text":"Order KX-4474 was sent on day 4. It weighs 4.5 kg."}]},"tokens":33,"bound":{"tokens":9}}');
INSERT INTO memfold.events VALUES (25769803806, 1795731012241, 3808447924, 3, 1, 0, NULL, '01m8cyhemhsmebs2rcek', '{"from":16,"to":24,"facts":[{"id":"scope.0@16-24v29.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦 → Order KX-4474 was sent on day 4. It weighs 4.5 kg.","from":16,"to":20},{"id":"scope.1@16-24v29.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 5: wo ist Bestellung KX-4475? 订单在哪里？ 📦 → Order KX-4475 was sent on day 5. It weighs 5.5 kg.","from":20,"to":24}]}');
INSERT INTO memfold.events VALUES (25769803808, 1795731012279, 2933613558, 5, 1, 0, -4558131, '01m8cyhene2hfgkn89vb', '{"compaction":"01m8cyhemqm34bk89g0s","summary":"01m8cyhene2hfgkn89vb","coveredTo":16,"carried":1,"segments":[{"kind":"block","from":8,"to":16,"text":"- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦\n- assistant: It weighs 2.5 kg.\n- user: Question 3: wo ist Bestellung KX-4473?\n- assistant: It weighs 3.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"summarizer":"extractive","calls":1,"tokens":132,"tokensBefore":482,"tokensAfter":338}');
INSERT INTO memfold.events VALUES (25769803809, 1795731012279, 1549544640, 6, 1, 1, NULL, NULL, '{"summary":"01m8cyheh39713pzqhk3","by":"01m8cyhene2hfgkn89vb"}');


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: memfold; Owner: -
--

INSERT INTO memfold.migrations VALUES (1, '2026-11-26 22:10:06.138776+00');


--
-- Data for Name: projections; Type: TABLE DATA; Schema: memfold; Owner: -
--

INSERT INTO memfold.projections VALUES (1, 'snapshot', '', '6e375e5113 "01m8cyhbyqf2ddyjj2bh"
{"session":"support","version":54,"total":37,"coveredTo":33,"compressedThroughRound":8,"startTime":1795731006523,"lastMessageTime":1795731009092,"modelCalls":18,"lastModelCallTime":1795731009092,"structure":{"open":null,"turn":{"from":35,"answered":true,"ended":true}},"preamble":false,"appendedTokens":1871,"lastPromptIndex":35,"lastCompactionTime":1795731009495,"uncovered":{"from":33,"items":[{"index":33,"version":47,"message":{"role":"user","parts":[{"type":"text","text":"What is on this picture?"},{"type":"file","mediaType":"image/png","uri":"data:image/png;base64,iVBORw0KGgo="}]},"time":1795731009086,"tokens":1010,"cumulativeTokens":1844,"group":33,"pinned":false},{"index":34,"version":48,"message":{"role":"assistant","parts":[{"type":"text","text":"A box."}]},"time":1795731009086,"tokens":7,"cumulativeTokens":1851,"group":34,"pinned":false},{"index":35,"version":49,"message":{"role":"user","parts":[{"type":"text","text":"My name is Ada. I live in Zürich."}]},"time":1795731009092,"tokens":14,"cumulativeTokens":1865,"group":35,"pinned":false},{"index":36,"version":50,"message":{"role":"assistant","parts":[{"type":"text","text":"Noted."}]},"time":1795731009092,"tokens":6,"cumulativeTokens":1871,"group":36,"pinned":false}]},"turnStarts":{"from":8,"items":[33,35]},"pinned":[{"index":0,"version":1,"message":{"role":"system","parts":[{"type":"text","text":"You answer questions about orders."}]},"time":1795731006523,"tokens":10,"cumulativeTokens":10,"group":0,"pinned":true}],"coveredTokens":834,"summary":{"id":"01m8cyhbyqf2ddyjj2bh","version":53,"coveredTo":33,"total":37,"carried":3,"segments":[{"kind":"block","from":0,"to":9,"text":"- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦\n- assistant: It weighs 0.5 kg.\n- user: Question 1: wo ist Bestellung KX-4471?\n- assistant: It weighs 1.5 kg."},{"kind":"block","from":9,"to":17,"text":"- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦\n- assistant: It weighs 2.5 kg.\n- user: Question 3: wo ist Bestellung KX-4473?\n- assistant: It weighs 3.5 kg."},{"kind":"block","from":17,"to":25,"text":"- user: Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦\n- assistant: It weighs 4.5 kg.\n- user: Question 5: wo ist Bestellung KX-4475?\n- assistant: It weighs 5.5 kg."},{"kind":"block","from":25,"to":33,"text":"- user: Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦\n- assistant: It weighs 6.5 kg.\n- user: Question 7: wo ist Bestellung KX-4477?\n- assistant: It weighs 7.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"tokens":257,"time":1795731009495},"front":{"time":1795731009495,"total":37,"coveredTo":33,"question":"My name is Ada. I live in Zürich."},"supersededCount":3,"damaged":[],"invalidatedAt":0,"unreadable":[],"running":null,"failures":null,"pausedUntil":0,"totalAtCommit":37,"reported":null,"learnedTo":37,"description":{"owner":"ada","title":"Orders support"},"spent":null,"clears":0,"facts":[{"id":"scope.0@0-9v10.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":1,"to":5,"time":1795731007697},{"id":"scope.1@0-9v10.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":5,"to":9,"time":1795731007697},{"id":"scope.0@9-17v19.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":9,"to":13,"time":1795731008062},{"id":"scope.1@9-17v19.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":13,"to":17,"time":1795731008062},{"id":"scope.0@17-25v30.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦 → Order KX-4474 was sent on day 4. It weighs 4.5 kg.","from":17,"to":21,"time":1795731008805},{"id":"scope.1@17-25v30.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 5: wo ist Bestellung KX-4475? 订单在哪里？ 📦 → Order KX-4475 was sent on day 5. It weighs 5.5 kg.","from":21,"to":25,"time":1795731008805},{"id":"scope.0@25-33v42.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦 → Order KX-4476 was sent on day 6. It weighs 6.5 kg.","from":25,"to":29,"time":1795731008961},{"id":"scope.1@25-33v42.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 7: wo ist Bestellung KX-4477? 订单在哪里？ 📦 → Order KX-4477 was sent on day 7. It weighs 7.5 kg.","from":29,"to":33,"time":1795731008961},{"id":"user.0@33-37v50.1795731006523.0.support","layer":"user","kind":"profile","text":"Name: Ada","key":"name","from":35,"to":36,"time":1795731009353},{"id":"user.1@33-37v50.1795731006523.0.support","layer":"user","kind":"profile","text":"Lives in: Zürich","key":"place","from":35,"to":36,"time":1795731009353},{"id":"scope.0@33-37v50.1795731006523.0.support","layer":"scope","kind":"digest","text":"What is on this picture? → A box.","from":33,"to":35,"time":1795731009353},{"id":"scope.1@33-37v50.1795731006523.0.support","layer":"scope","kind":"digest","text":"My name is Ada. I live in Zürich. → Noted.","from":35,"to":37,"time":1795731009353}],"prefix":{"changedAt":53,"validFrom":37,"swappedAt":0,"swappedTotal":0,"boundTo":0,"batch":"01m8cyhbj4fsxzasth34","batchFrom":35,"inputFrom":null},"covered":{"startTime":1795731006523,"lastMessageTime":1795731008907,"modelCalls":16,"lastModelCallTime":1795731008907,"structure":{"open":null,"turn":{"from":29,"answered":true,"ended":true}},"preamble":false,"appendedTokens":834,"lastPromptIndex":31,"version":42},"branch":{"id":0,"parent":null,"from":0},"branches":[],"gaps":[]}', NULL);
INSERT INTO memfold.projections VALUES (1, 'earlier-snapshot', '0', '6e375e5113 "01m8cyhbyqf2ddyjj2bh"
{"session":"support","version":54,"total":37,"coveredTo":33,"compressedThroughRound":8,"startTime":1795731006523,"lastMessageTime":1795731009092,"modelCalls":18,"lastModelCallTime":1795731009092,"structure":{"open":null,"turn":{"from":35,"answered":true,"ended":true}},"preamble":false,"appendedTokens":1871,"lastPromptIndex":35,"lastCompactionTime":1795731009495,"uncovered":{"from":33,"items":[{"index":33,"version":47,"message":{"role":"user","parts":[{"type":"text","text":"What is on this picture?"},{"type":"file","mediaType":"image/png","uri":"data:image/png;base64,iVBORw0KGgo="}]},"time":1795731009086,"tokens":1010,"cumulativeTokens":1844,"group":33,"pinned":false},{"index":34,"version":48,"message":{"role":"assistant","parts":[{"type":"text","text":"A box."}]},"time":1795731009086,"tokens":7,"cumulativeTokens":1851,"group":34,"pinned":false},{"index":35,"version":49,"message":{"role":"user","parts":[{"type":"text","text":"My name is Ada. I live in Zürich."}]},"time":1795731009092,"tokens":14,"cumulativeTokens":1865,"group":35,"pinned":false},{"index":36,"version":50,"message":{"role":"assistant","parts":[{"type":"text","text":"Noted."}]},"time":1795731009092,"tokens":6,"cumulativeTokens":1871,"group":36,"pinned":false}]},"turnStarts":{"from":8,"items":[33,35]},"pinned":[{"index":0,"version":1,"message":{"role":"system","parts":[{"type":"text","text":"You answer questions about orders."}]},"time":1795731006523,"tokens":10,"cumulativeTokens":10,"group":0,"pinned":true}],"coveredTokens":834,"summary":{"id":"01m8cyhbyqf2ddyjj2bh","version":53,"coveredTo":33,"total":37,"carried":3,"segments":[{"kind":"block","from":0,"to":9,"text":"- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦\n- assistant: It weighs 0.5 kg.\n- user: Question 1: wo ist Bestellung KX-4471?\n- assistant: It weighs 1.5 kg."},{"kind":"block","from":9,"to":17,"text":"- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦\n- assistant: It weighs 2.5 kg.\n- user: Question 3: wo ist Bestellung KX-4473?\n- assistant: It weighs 3.5 kg."},{"kind":"block","from":17,"to":25,"text":"- user: Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦\n- assistant: It weighs 4.5 kg.\n- user: Question 5: wo ist Bestellung KX-4475?\n- assistant: It weighs 5.5 kg."},{"kind":"block","from":25,"to":33,"text":"- user: Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦\n- assistant: It weighs 6.5 kg.\n- user: Question 7: wo ist Bestellung KX-4477?\n- assistant: It weighs 7.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"tokens":257,"time":1795731009495},"front":{"time":1795731009495,"total":37,"coveredTo":33,"question":"My name is Ada. I live in Zürich."},"supersededCount":3,"damaged":[],"invalidatedAt":0,"unreadable":[],"running":null,"failures":null,"pausedUntil":0,"totalAtCommit":37,"reported":null,"learnedTo":37,"description":{"owner":"ada","title":"Orders support"},"spent":null,"clears":0,"facts":[{"id":"scope.0@0-9v10.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":1,"to":5,"time":1795731007697},{"id":"scope.1@0-9v10.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":5,"to":9,"time":1795731007697},{"id":"scope.0@9-17v19.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":9,"to":13,"time":1795731008062},{"id":"scope.1@9-17v19.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":13,"to":17,"time":1795731008062},{"id":"scope.0@17-25v30.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦 → Order KX-4474 was sent on day 4. It weighs 4.5 kg.","from":17,"to":21,"time":1795731008805},{"id":"scope.1@17-25v30.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 5: wo ist Bestellung KX-4475? 订单在哪里？ 📦 → Order KX-4475 was sent on day 5. It weighs 5.5 kg.","from":21,"to":25,"time":1795731008805},{"id":"scope.0@25-33v42.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦 → Order KX-4476 was sent on day 6. It weighs 6.5 kg.","from":25,"to":29,"time":1795731008961},{"id":"scope.1@25-33v42.1795731006523.0.support","layer":"scope","kind":"digest","text":"Question 7: wo ist Bestellung KX-4477? 订单在哪里？ 📦 → Order KX-4477 was sent on day 7. It weighs 7.5 kg.","from":29,"to":33,"time":1795731008961},{"id":"user.0@33-37v50.1795731006523.0.support","layer":"user","kind":"profile","text":"Name: Ada","key":"name","from":35,"to":36,"time":1795731009353},{"id":"user.1@33-37v50.1795731006523.0.support","layer":"user","kind":"profile","text":"Lives in: Zürich","key":"place","from":35,"to":36,"time":1795731009353},{"id":"scope.0@33-37v50.1795731006523.0.support","layer":"scope","kind":"digest","text":"What is on this picture? → A box.","from":33,"to":35,"time":1795731009353},{"id":"scope.1@33-37v50.1795731006523.0.support","layer":"scope","kind":"digest","text":"My name is Ada. I live in Zürich. → Noted.","from":35,"to":37,"time":1795731009353}],"prefix":{"changedAt":53,"validFrom":37,"swappedAt":0,"swappedTotal":0,"boundTo":0,"batch":"01m8cyhbj4fsxzasth34","batchFrom":35,"inputFrom":null},"covered":{"startTime":1795731006523,"lastMessageTime":1795731008907,"modelCalls":16,"lastModelCallTime":1795731008907,"structure":{"open":null,"turn":{"from":29,"answered":true,"ended":true}},"preamble":false,"appendedTokens":834,"lastPromptIndex":31,"version":42},"branch":{"id":0,"parent":null,"from":0},"branches":[],"gaps":[]}', NULL);
INSERT INTO memfold.projections VALUES (3, 'snapshot', '', '9811c3b413 "01m8cyhce0cg6mts8dxq"
{"session":"edited","version":21,"total":16,"coveredTo":8,"compressedThroughRound":2,"startTime":1795731009784,"lastMessageTime":1795731009879,"modelCalls":8,"lastModelCallTime":1795731009879,"structure":{"open":null,"turn":{"from":12,"answered":true,"ended":true}},"preamble":false,"appendedTokens":412,"lastPromptIndex":14,"lastCompactionTime":1795731009985,"uncovered":{"from":8,"items":[{"index":8,"version":11,"message":{"role":"user","parts":[{"type":"text","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦"}]},"time":1795731009876,"tokens":24,"cumulativeTokens":230,"group":8,"pinned":false},{"index":9,"version":12,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-2","name":"find_order","arguments":"{\"order\":\"KX-4472\"}"}]},"time":1795731009876,"tokens":20,"cumulativeTokens":250,"group":9,"pinned":false},{"index":10,"version":13,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-2","output":"{\"order\":\"KX-4472\",\"state\":\"sent on day 2\"}"}]},"time":1795731009876,"tokens":26,"cumulativeTokens":276,"group":9,"pinned":false},{"index":11,"version":14,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 2 is what was asked for.","signature":"signed-2"},{"type":"text","text":"Order KX-4472 was sent on day 2. It weighs 2.5 kg."}]},"time":1795731009876,"tokens":33,"cumulativeTokens":309,"group":11,"pinned":false,"bound":{"tokens":9}},{"index":12,"version":15,"message":{"role":"user","parts":[{"type":"text","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦"}]},"time":1795731009879,"tokens":24,"cumulativeTokens":333,"group":12,"pinned":false},{"index":13,"version":16,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-3","name":"find_order","arguments":"{\"order\":\"KX-4473\"}"}]},"time":1795731009879,"tokens":20,"cumulativeTokens":353,"group":13,"pinned":false},{"index":14,"version":17,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-3","output":"{\"order\":\"KX-4473\",\"state\":\"sent on day 3\"}"}]},"time":1795731009879,"tokens":26,"cumulativeTokens":379,"group":13,"pinned":false},{"index":15,"version":18,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 3 is what was asked for.","signature":"signed-3"},{"type":"text","text":"Order KX-4473 was sent on day 3. It weighs 3.5 kg."}]},"time":1795731009879,"tokens":33,"cumulativeTokens":412,"group":15,"pinned":false,"bound":{"tokens":9}}]},"turnStarts":{"from":2,"items":[8,12]},"pinned":[],"coveredTokens":206,"summary":{"id":"01m8cyhce0cg6mts8dxq","version":21,"coveredTo":8,"total":16,"carried":0,"segments":[{"kind":"block","from":0,"to":8,"text":"- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦\n- assistant: It weighs 0.5 kg.\n- user: Question 1: wo ist Bestellung KX-4471?\n- assistant: It weighs 1.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"tokens":70,"time":1795731009985},"front":{"time":1795731009985,"total":16,"coveredTo":8,"question":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦"},"supersededCount":0,"damaged":[],"invalidatedAt":0,"unreadable":[],"running":null,"failures":null,"pausedUntil":0,"totalAtCommit":16,"reported":null,"learnedTo":16,"description":{"owner":"ada","title":"Orders edited"},"spent":null,"clears":0,"facts":[{"id":"scope.0@0-8v9.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":0,"to":4,"time":1795731009863},{"id":"scope.1@0-8v9.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":4,"to":8,"time":1795731009863},{"id":"scope.0@8-16v18.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":8,"to":12,"time":1795731009933},{"id":"scope.1@8-16v18.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":12,"to":16,"time":1795731009933}],"prefix":{"changedAt":21,"validFrom":16,"swappedAt":0,"swappedTotal":0,"boundTo":0,"batch":"01m8cyhcaqwz4zsfbfx1","batchFrom":12,"inputFrom":null},"covered":{"startTime":1795731009784,"lastMessageTime":1795731009828,"modelCalls":4,"lastModelCallTime":1795731009828,"structure":{"open":null,"turn":{"from":4,"answered":true,"ended":true}},"preamble":false,"appendedTokens":206,"lastPromptIndex":6,"version":9},"branch":{"id":0,"parent":null,"from":0},"branches":[],"gaps":[]}', NULL);
INSERT INTO memfold.projections VALUES (3, 'earlier-snapshot', '0', '9811c3b413 "01m8cyhce0cg6mts8dxq"
{"session":"edited","version":21,"total":16,"coveredTo":8,"compressedThroughRound":2,"startTime":1795731009784,"lastMessageTime":1795731009879,"modelCalls":8,"lastModelCallTime":1795731009879,"structure":{"open":null,"turn":{"from":12,"answered":true,"ended":true}},"preamble":false,"appendedTokens":412,"lastPromptIndex":14,"lastCompactionTime":1795731009985,"uncovered":{"from":8,"items":[{"index":8,"version":11,"message":{"role":"user","parts":[{"type":"text","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦"}]},"time":1795731009876,"tokens":24,"cumulativeTokens":230,"group":8,"pinned":false},{"index":9,"version":12,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-2","name":"find_order","arguments":"{\"order\":\"KX-4472\"}"}]},"time":1795731009876,"tokens":20,"cumulativeTokens":250,"group":9,"pinned":false},{"index":10,"version":13,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-2","output":"{\"order\":\"KX-4472\",\"state\":\"sent on day 2\"}"}]},"time":1795731009876,"tokens":26,"cumulativeTokens":276,"group":9,"pinned":false},{"index":11,"version":14,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 2 is what was asked for.","signature":"signed-2"},{"type":"text","text":"Order KX-4472 was sent on day 2. It weighs 2.5 kg."}]},"time":1795731009876,"tokens":33,"cumulativeTokens":309,"group":11,"pinned":false,"bound":{"tokens":9}},{"index":12,"version":15,"message":{"role":"user","parts":[{"type":"text","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦"}]},"time":1795731009879,"tokens":24,"cumulativeTokens":333,"group":12,"pinned":false},{"index":13,"version":16,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-3","name":"find_order","arguments":"{\"order\":\"KX-4473\"}"}]},"time":1795731009879,"tokens":20,"cumulativeTokens":353,"group":13,"pinned":false},{"index":14,"version":17,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-3","output":"{\"order\":\"KX-4473\",\"state\":\"sent on day 3\"}"}]},"time":1795731009879,"tokens":26,"cumulativeTokens":379,"group":13,"pinned":false},{"index":15,"version":18,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 3 is what was asked for.","signature":"signed-3"},{"type":"text","text":"Order KX-4473 was sent on day 3. It weighs 3.5 kg."}]},"time":1795731009879,"tokens":33,"cumulativeTokens":412,"group":15,"pinned":false,"bound":{"tokens":9}}]},"turnStarts":{"from":2,"items":[8,12]},"pinned":[],"coveredTokens":206,"summary":{"id":"01m8cyhce0cg6mts8dxq","version":21,"coveredTo":8,"total":16,"carried":0,"segments":[{"kind":"block","from":0,"to":8,"text":"- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦\n- assistant: It weighs 0.5 kg.\n- user: Question 1: wo ist Bestellung KX-4471?\n- assistant: It weighs 1.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"tokens":70,"time":1795731009985},"front":{"time":1795731009985,"total":16,"coveredTo":8,"question":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦"},"supersededCount":0,"damaged":[],"invalidatedAt":0,"unreadable":[],"running":null,"failures":null,"pausedUntil":0,"totalAtCommit":16,"reported":null,"learnedTo":16,"description":{"owner":"ada","title":"Orders edited"},"spent":null,"clears":0,"facts":[{"id":"scope.0@0-8v9.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":0,"to":4,"time":1795731009863},{"id":"scope.1@0-8v9.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":4,"to":8,"time":1795731009863},{"id":"scope.0@8-16v18.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":8,"to":12,"time":1795731009933},{"id":"scope.1@8-16v18.1795731009784.0.edited","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":12,"to":16,"time":1795731009933}],"prefix":{"changedAt":21,"validFrom":16,"swappedAt":0,"swappedTotal":0,"boundTo":0,"batch":"01m8cyhcaqwz4zsfbfx1","batchFrom":12,"inputFrom":null},"covered":{"startTime":1795731009784,"lastMessageTime":1795731009828,"modelCalls":4,"lastModelCallTime":1795731009828,"structure":{"open":null,"turn":{"from":4,"answered":true,"ended":true}},"preamble":false,"appendedTokens":206,"lastPromptIndex":6,"version":9},"branch":{"id":0,"parent":null,"from":0},"branches":[],"gaps":[]}', NULL);
INSERT INTO memfold.projections VALUES (6, 'snapshot', '', 'c65922b213 "01m8cyheh39713pzqhk3"
{"session":"taken back","version":21,"total":16,"coveredTo":8,"compressedThroughRound":2,"startTime":1795731011772,"lastMessageTime":1795731011889,"modelCalls":8,"lastModelCallTime":1795731011889,"structure":{"open":null,"turn":{"from":12,"answered":true,"ended":true}},"preamble":false,"appendedTokens":412,"lastPromptIndex":14,"lastCompactionTime":1795731012132,"uncovered":{"from":8,"items":[{"index":8,"version":11,"message":{"role":"user","parts":[{"type":"text","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦"}]},"time":1795731011876,"tokens":24,"cumulativeTokens":230,"group":8,"pinned":false},{"index":9,"version":12,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-2","name":"find_order","arguments":"{\"order\":\"KX-4472\"}"}]},"time":1795731011876,"tokens":20,"cumulativeTokens":250,"group":9,"pinned":false},{"index":10,"version":13,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-2","output":"{\"order\":\"KX-4472\",\"state\":\"sent on day 2\"}"}]},"time":1795731011876,"tokens":26,"cumulativeTokens":276,"group":9,"pinned":false},{"index":11,"version":14,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 2 is what was asked for.","signature":"signed-2"},{"type":"text","text":"Order KX-4472 was sent on day 2. It weighs 2.5 kg."}]},"time":1795731011876,"tokens":33,"cumulativeTokens":309,"group":11,"pinned":false,"bound":{"tokens":9}},{"index":12,"version":15,"message":{"role":"user","parts":[{"type":"text","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦"}]},"time":1795731011889,"tokens":24,"cumulativeTokens":333,"group":12,"pinned":false},{"index":13,"version":16,"message":{"role":"assistant","parts":[{"type":"tool-call","id":"call-3","name":"find_order","arguments":"{\"order\":\"KX-4473\"}"}]},"time":1795731011889,"tokens":20,"cumulativeTokens":353,"group":13,"pinned":false},{"index":14,"version":17,"message":{"role":"tool","parts":[{"type":"tool-result","id":"call-3","output":"{\"order\":\"KX-4473\",\"state\":\"sent on day 3\"}"}]},"time":1795731011889,"tokens":26,"cumulativeTokens":379,"group":13,"pinned":false},{"index":15,"version":18,"message":{"role":"assistant","parts":[{"type":"reasoning","text":"Day 3 is what was asked for.","signature":"signed-3"},{"type":"text","text":"Order KX-4473 was sent on day 3. It weighs 3.5 kg."}]},"time":1795731011889,"tokens":33,"cumulativeTokens":412,"group":15,"pinned":false,"bound":{"tokens":9}}]},"turnStarts":{"from":2,"items":[8,12]},"pinned":[],"coveredTokens":206,"summary":{"id":"01m8cyheh39713pzqhk3","version":21,"coveredTo":8,"total":16,"carried":0,"segments":[{"kind":"block","from":0,"to":8,"text":"- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦\n- assistant: It weighs 0.5 kg.\n- user: Question 1: wo ist Bestellung KX-4471?\n- assistant: It weighs 1.5 kg."}],"files":{"read":[],"modified":[]},"wording":{"role":"system","heading":"[Session Memory]\n","between":"\n\n","beforeTurnPrefix":"\n\n---\n\n**Turn Context (split turn):**\n\n"},"tokens":70,"time":1795731012132},"front":{"time":1795731012132,"total":16,"coveredTo":8,"question":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦"},"supersededCount":0,"damaged":[],"invalidatedAt":0,"unreadable":[],"running":null,"failures":null,"pausedUntil":0,"totalAtCommit":16,"reported":null,"learnedTo":16,"description":{"owner":"ada","title":"Orders taken back"},"spent":null,"clears":0,"facts":[{"id":"scope.0@0-8v9.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦 → Order KX-4470 was sent on day 0. It weighs 0.5 kg.","from":0,"to":4,"time":1795731011854},{"id":"scope.1@0-8v9.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 1: wo ist Bestellung KX-4471? 订单在哪里？ 📦 → Order KX-4471 was sent on day 1. It weighs 1.5 kg.","from":4,"to":8,"time":1795731011854},{"id":"scope.0@8-16v18.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦 → Order KX-4472 was sent on day 2. It weighs 2.5 kg.","from":8,"to":12,"time":1795731011941},{"id":"scope.1@8-16v18.1795731011772.0.taken back","layer":"scope","kind":"digest","text":"Question 3: wo ist Bestellung KX-4473? 订单在哪里？ 📦 → Order KX-4473 was sent on day 3. It weighs 3.5 kg.","from":12,"to":16,"time":1795731011941}],"prefix":{"changedAt":21,"validFrom":16,"swappedAt":0,"swappedTotal":0,"boundTo":0,"batch":"01m8cyhe9hkrq1qpf5ks","batchFrom":12,"inputFrom":null},"covered":{"startTime":1795731011772,"lastMessageTime":1795731011810,"modelCalls":4,"lastModelCallTime":1795731011810,"structure":{"open":null,"turn":{"from":4,"answered":true,"ended":true}},"preamble":false,"appendedTokens":206,"lastPromptIndex":6,"version":9},"branch":{"id":0,"parent":null,"from":0},"branches":[],"gaps":[]}', NULL);


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: memfold; Owner: -
--

INSERT INTO memfold.sessions OVERRIDING SYSTEM VALUE VALUES (6, 35, 1795731011772, true, 'taken back', 'ada', 'Orders taken back');
INSERT INTO memfold.sessions OVERRIDING SYSTEM VALUE VALUES (1, 54, 1795731006523, true, 'support', 'ada', 'Orders support');
INSERT INTO memfold.sessions OVERRIDING SYSTEM VALUE VALUES (2, 54, 1795731006523, true, 'support, again', 'ada', 'Orders support');
INSERT INTO memfold.sessions OVERRIDING SYSTEM VALUE VALUES (3, 26, 1795731009784, true, 'edited', 'ada', 'Orders edited');
INSERT INTO memfold.sessions OVERRIDING SYSTEM VALUE VALUES (4, 27, 1795731010248, true, 'redacted', 'ada', 'Orders redacted');
INSERT INTO memfold.sessions OVERRIDING SYSTEM VALUE VALUES (5, 19, 1795731011348, true, 'cleared', 'ada', 'Orders cleared');


--
-- Data for Name: summaries; Type: TABLE DATA; Schema: memfold; Owner: -
--

INSERT INTO memfold.summaries VALUES ('01m8cyhb3h0fx1hv385s', 'support', '- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦
- assistant: It weighs 0.5 kg.
- user: Question 1: wo ist Bestellung KX-4471?
- assistant: It weighs 1.5 kg.', 9, 17, false, NULL, false, '2026-11-26 22:10:08.627+00', 'superseded', '01m8cyhbah9epwnrfrsg', 1, 22, 1795731008627, 70);
INSERT INTO memfold.summaries VALUES ('01m8cyhbah9epwnrfrsg', 'support', '- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦
- assistant: It weighs 2.5 kg.
- user: Question 3: wo ist Bestellung KX-4473?
- assistant: It weighs 3.5 kg.', 17, 25, false, NULL, false, '2026-11-26 22:10:08.85+00', 'superseded', '01m8cyhbg1rmrym8qkae', 1, 33, 1795731008850, 132);
INSERT INTO memfold.summaries VALUES ('01m8cyhbg1rmrym8qkae', 'support', '- user: Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦
- assistant: It weighs 4.5 kg.
- user: Question 5: wo ist Bestellung KX-4475?
- assistant: It weighs 5.5 kg.', 25, 33, false, NULL, false, '2026-11-26 22:10:09.025+00', 'superseded', '01m8cyhbyqf2ddyjj2bh', 1, 45, 1795731009025, 195);
INSERT INTO memfold.summaries VALUES ('01m8cyhbyqf2ddyjj2bh', 'support', '- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦
- assistant: It weighs 0.5 kg.
- user: Question 1: wo ist Bestellung KX-4471?
- assistant: It weighs 1.5 kg.

- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦
- assistant: It weighs 2.5 kg.
- user: Question 3: wo ist Bestellung KX-4473?
- assistant: It weighs 3.5 kg.

- user: Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦
- assistant: It weighs 4.5 kg.
- user: Question 5: wo ist Bestellung KX-4475?
- assistant: It weighs 5.5 kg.

- user: Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦
- assistant: It weighs 6.5 kg.
- user: Question 7: wo ist Bestellung KX-4477?
- assistant: It weighs 7.5 kg.', 33, 37, false, NULL, true, '2026-11-26 22:10:09.495+00', 'active', NULL, 1, 53, 1795731009495, 257);
INSERT INTO memfold.summaries VALUES ('01m8cyhb3hmp258jnpn4', 'support, again', '- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦
- assistant: It weighs 0.5 kg.
- user: Question 1: wo ist Bestellung KX-4471?
- assistant: It weighs 1.5 kg.', 9, 17, false, NULL, false, '2026-11-26 22:10:08.627+00', 'superseded', '01m8cyhbah54ez16kbcg', 2, 22, 1795731008627, 70);
INSERT INTO memfold.summaries VALUES ('01m8cyhbah54ez16kbcg', 'support, again', '- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦
- assistant: It weighs 2.5 kg.
- user: Question 3: wo ist Bestellung KX-4473?
- assistant: It weighs 3.5 kg.', 17, 25, false, NULL, false, '2026-11-26 22:10:08.85+00', 'superseded', '01m8cyhbg109jcvdd78m', 2, 33, 1795731008850, 132);
INSERT INTO memfold.summaries VALUES ('01m8cyhbg109jcvdd78m', 'support, again', '- user: Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦
- assistant: It weighs 4.5 kg.
- user: Question 5: wo ist Bestellung KX-4475?
- assistant: It weighs 5.5 kg.', 25, 33, false, NULL, false, '2026-11-26 22:10:09.025+00', 'superseded', '01m8cyhbyqgdff1sr0jy', 2, 45, 1795731009025, 195);
INSERT INTO memfold.summaries VALUES ('01m8cyhbyqgdff1sr0jy', 'support, again', '- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦
- assistant: It weighs 0.5 kg.
- user: Question 1: wo ist Bestellung KX-4471?
- assistant: It weighs 1.5 kg.

- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦
- assistant: It weighs 2.5 kg.
- user: Question 3: wo ist Bestellung KX-4473?
- assistant: It weighs 3.5 kg.

- user: Question 4: wo ist Bestellung KX-4474? 订单在哪里？ 📦
- assistant: It weighs 4.5 kg.
- user: Question 5: wo ist Bestellung KX-4475?
- assistant: It weighs 5.5 kg.

- user: Question 6: wo ist Bestellung KX-4476? 订单在哪里？ 📦
- assistant: It weighs 6.5 kg.
- user: Question 7: wo ist Bestellung KX-4477?
- assistant: It weighs 7.5 kg.', 33, 37, false, NULL, true, '2026-11-26 22:10:09.495+00', 'active', NULL, 2, 53, 1795731009495, 257);
INSERT INTO memfold.summaries VALUES ('01m8cyhce0cg6mts8dxq', 'edited', '- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦
- assistant: It weighs 0.5 kg.
- user: Question 1: wo ist Bestellung KX-4471?
- assistant: It weighs 1.5 kg.', 8, 16, false, NULL, true, '2026-11-26 22:10:09.985+00', 'active', NULL, 3, 21, 1795731009985, 70);
INSERT INTO memfold.summaries VALUES ('01m8cyhcwq4xa7f2wegd', 'redacted', '[redacted]', 8, 16, false, NULL, false, '2026-11-26 22:10:10.455+00', 'invalid', NULL, 4, 21, 1795731010455, 70);
INSERT INTO memfold.summaries VALUES ('01m8cyheh39713pzqhk3', 'taken back', '- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦
- assistant: It weighs 0.5 kg.
- user: Question 1: wo ist Bestellung KX-4471?
- assistant: It weighs 1.5 kg.', 8, 16, false, NULL, true, '2026-11-26 22:10:12.132+00', 'active', NULL, 6, 21, 1795731012132, 70);
INSERT INTO memfold.summaries VALUES ('01m8cyhene2hfgkn89vb', 'taken back', '- user: Question 0: wo ist Bestellung KX-4470? 订单在哪里？ 📦
- assistant: It weighs 0.5 kg.
- user: Question 1: wo ist Bestellung KX-4471?
- assistant: It weighs 1.5 kg.

- user: Question 2: wo ist Bestellung KX-4472? 订单在哪里？ 📦
- assistant: It weighs 2.5 kg.
- user: Question 3: wo ist Bestellung KX-4473?
- assistant: It weighs 3.5 kg.', 16, 24, false, NULL, false, '2026-11-26 22:10:12.279+00', 'invalid', NULL, 6, 32, 1795731012279, 132);


--
-- Data for Name: types; Type: TABLE DATA; Schema: memfold; Owner: -
--

INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (1, 'MessageAppended');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (2, 'SessionDescribed');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (3, 'FactsLearned');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (4, 'CompactionStarted');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (5, 'SummaryCommitted');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (6, 'SummarySuperseded');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (7, 'BranchSwitched');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (8, 'MessageRedacted');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (9, 'SummaryInvalidated');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (10, 'SessionCleared');
INSERT INTO memfold.types OVERRIDING SYSTEM VALUE VALUES (11, 'CompactionPaused');


--
-- Name: sessions_id_seq; Type: SEQUENCE SET; Schema: memfold; Owner: -
--

SELECT pg_catalog.setval('memfold.sessions_id_seq', 6, true);


--
-- Name: types_id_seq; Type: SEQUENCE SET; Schema: memfold; Owner: -
--

SELECT pg_catalog.setval('memfold.types_id_seq', 11, true);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);


--
-- Name: projections projections_pkey; Type: CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.projections
    ADD CONSTRAINT projections_pkey PRIMARY KEY (session, kind, key);


--
-- Name: sessions sessions_name_key; Type: CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.sessions
    ADD CONSTRAINT sessions_name_key UNIQUE (name);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);


--
-- Name: summaries summaries_pkey; Type: CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.summaries
    ADD CONSTRAINT summaries_pkey PRIMARY KEY (session, summary_id);


--
-- Name: types types_name_key; Type: CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.types
    ADD CONSTRAINT types_name_key UNIQUE (name);


--
-- Name: types types_pkey; Type: CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.types
    ADD CONSTRAINT types_pkey PRIMARY KEY (id);


--
-- Name: events_by_batch; Type: INDEX; Schema: memfold; Owner: -
--

CREATE INDEX events_by_batch ON memfold.events USING btree (((id >> 32)), batch_hash) WHERE (batch_hash IS NOT NULL);


--
-- Name: projections_one_mark; Type: INDEX; Schema: memfold; Owner: -
--

CREATE UNIQUE INDEX projections_one_mark ON memfold.projections USING btree (session, kind, mark) WHERE (mark IS NOT NULL);


--
-- Name: sessions_by_owner; Type: INDEX; Schema: memfold; Owner: -
--

CREATE INDEX sessions_by_owner ON memfold.sessions USING btree (owner) WHERE (owner IS NOT NULL);


--
-- Name: summaries_by_thread; Type: INDEX; Schema: memfold; Owner: -
--

CREATE INDEX summaries_by_thread ON memfold.summaries USING btree (thread_id, is_active, created_at);


--
-- Name: summaries_one_active; Type: INDEX; Schema: memfold; Owner: -
--

CREATE UNIQUE INDEX summaries_one_active ON memfold.summaries USING btree (session) WHERE is_active;


--
-- Name: sessions events_of_deleted_session; Type: TRIGGER; Schema: memfold; Owner: -
--

CREATE TRIGGER events_of_deleted_session BEFORE DELETE ON memfold.sessions FOR EACH ROW EXECUTE FUNCTION memfold.delete_events_of_session();


--
-- Name: projections projections_session_fkey; Type: FK CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.projections
    ADD CONSTRAINT projections_session_fkey FOREIGN KEY (session) REFERENCES memfold.sessions(id) ON DELETE CASCADE;


--
-- Name: summaries summaries_session_fkey; Type: FK CONSTRAINT; Schema: memfold; Owner: -
--

ALTER TABLE ONLY memfold.summaries
    ADD CONSTRAINT summaries_session_fkey FOREIGN KEY (session) REFERENCES memfold.sessions(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


