CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE execution_requests (
	ref INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"key" TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	target TEXT NOT NULL, 
	caller TEXT NOT NULL, 
	grant_ref INTEGER NOT NULL, 
	run TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	run_ref INTEGER, 
	stage TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	token INTEGER NOT NULL, 
	lease_until INTEGER NOT NULL, 
	verdict TEXT, 
	decided_by TEXT, 
	outcome TEXT, 
	created_at INTEGER NOT NULL, 
	ended_at INTEGER, 
	CONSTRAINT execution_requests_stage_check CHECK (stage = 'done' OR stage = 'held' OR stage = 'in_progress' OR stage = 'released'), 
	CONSTRAINT execution_requests_verdict_check CHECK (verdict IS NULL OR verdict = 'approve' OR verdict = 'reject' OR verdict = 'revise'), 
	CONSTRAINT execution_requests_key_key UNIQUE ("key")
)
 STRICT

;
CREATE INDEX execution_requests_ended ON execution_requests (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX execution_requests_run ON execution_requests (run);
CREATE TABLE kept_answers (
	ref INTEGER NOT NULL, 
	scope TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	status INTEGER NOT NULL, 
	headers TEXT NOT NULL, 
	body TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT kept_answers_pkey PRIMARY KEY (ref), 
	CONSTRAINT kept_answers_once UNIQUE (scope, "key")
)
 STRICT

;
CREATE INDEX kept_answers_age ON kept_answers (created_at);
CREATE TABLE questions (
	ref INTEGER NOT NULL, 
	run_ref INTEGER NOT NULL, 
	schedule_ref INTEGER NOT NULL, 
	round INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	data TEXT, 
	who TEXT NOT NULL, 
	reference TEXT, 
	asked_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	at_expiry TEXT NOT NULL, 
	decision TEXT, 
	verdict TEXT, 
	feedback TEXT, 
	decided_by TEXT, 
	closed_at INTEGER, 
	CONSTRAINT questions_pkey PRIMARY KEY (ref), 
	CONSTRAINT questions_at_expiry_check CHECK (at_expiry = 'approve' OR at_expiry = 'fail' OR at_expiry = 'reject'), 
	CONSTRAINT questions_verdict_check CHECK (verdict IS NULL OR verdict = 'approve' OR verdict = 'reject' OR verdict = 'revise'), 
	CONSTRAINT questions_once UNIQUE (run_ref, round)
)
 STRICT

;
CREATE INDEX questions_open ON questions (expires_at) WHERE closed_at IS NULL;
CREATE TABLE revisions (
	name TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	CONSTRAINT revisions_pkey PRIMARY KEY (name)
)
 STRICT

;
CREATE TABLE runs (
	ref INTEGER NOT NULL, 
	schedule_ref INTEGER NOT NULL, 
	nominal_at INTEGER NOT NULL, 
	due_at INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	backfill INTEGER DEFAULT 0 NOT NULL, 
	attempt INTEGER DEFAULT 1 NOT NULL, 
	status TEXT NOT NULL, 
	reason TEXT, 
	hold TEXT, 
	occupies INTEGER DEFAULT 0 NOT NULL, 
	overlap TEXT, 
	orders TEXT, 
	grant_ref INTEGER, 
	worker INTEGER, 
	token INTEGER DEFAULT 0 NOT NULL, 
	losses INTEGER DEFAULT 0 NOT NULL, 
	rounds INTEGER DEFAULT 0 NOT NULL, 
	ready_for INTEGER, 
	ready_at INTEGER, 
	retry_of INTEGER, 
	version INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	started_at INTEGER, 
	ended_at INTEGER, 
	input TEXT, 
	result TEXT, 
	error TEXT, 
	progress TEXT, 
	CONSTRAINT runs_pkey PRIMARY KEY (ref), 
	CONSTRAINT runs_hold_check CHECK (hold IS NULL OR hold = 'due' OR hold = 'overlap' OR hold = 'paused' OR hold = 'retry'), 
	CONSTRAINT runs_kind_check CHECK (kind = 'slot' OR kind = 'backfill' OR kind = 'manual'), 
	CONSTRAINT runs_orders_check CHECK (orders IS NULL OR orders = 'cancel_by_policy' OR orders = 'cancel_by_user'), 
	CONSTRAINT runs_overlap_check CHECK (overlap IS NULL OR overlap = 'allow_all' OR overlap = 'buffer_all' OR overlap = 'buffer_one' OR overlap = 'cancel_other' OR overlap = 'skip' OR overlap = 'terminate_other'), 
	CONSTRAINT runs_reason_check CHECK (reason IS NULL OR reason = 'aborted' OR reason = 'buffer_full' OR reason = 'cancelled_by_policy' OR reason = 'cancelled_by_user' OR reason = 'decision_expired' OR reason = 'finalization_lost' OR reason = 'grant_expired' OR reason = 'grant_not_found' OR reason = 'grant_revoked' OR reason = 'grant_scope' OR reason = 'insufficient_credits' OR reason = 'internal' OR reason = 'invalid_request' OR reason = 'limit_reached' OR reason = 'lost' OR reason = 'missed' OR reason = 'not_found' OR reason = 'out_of_window' OR reason = 'over_budget' OR reason = 'overlap' OR reason = 'paused' OR reason = 'provider_unavailable' OR reason = 'rate_limit' OR reason = 'rejected' OR reason = 'run_limit' OR reason = 'schedule_deleted' OR reason = 'skipped_by_user' OR reason = 'superseded' OR reason = 'terminated' OR reason = 'timeout'), 
	CONSTRAINT runs_status_check CHECK (status = 'running' OR status = 'cancelled' OR status = 'error' OR status = 'pending' OR status = 'skipped' OR status = 'success' OR status = 'waiting'), 
	CONSTRAINT runs_slot UNIQUE (schedule_ref, nominal_at, kind, backfill, attempt)
)
 STRICT

;
CREATE INDEX runs_leased ON runs (worker) WHERE status = 'running';
CREATE INDEX runs_open ON runs (schedule_ref) WHERE status = 'running' OR status = 'pending' OR status = 'waiting';
CREATE INDEX runs_ready ON runs (ready_for, ready_at) WHERE ready_for IS NOT NULL;
CREATE TABLE costs (
	run_ref INTEGER NOT NULL, 
	credits INTEGER NOT NULL, 
	"deferred" INTEGER NOT NULL, 
	CONSTRAINT costs_pkey PRIMARY KEY (run_ref)
)
 STRICT

;
CREATE TABLE spendings (
	ref INTEGER NOT NULL, 
	owner TEXT NOT NULL, 
	owner_ref INTEGER NOT NULL, 
	run_ref INTEGER NOT NULL, 
	at INTEGER NOT NULL, 
	reserved INTEGER NOT NULL, 
	spent INTEGER, 
	is_over INTEGER DEFAULT 0 NOT NULL, 
	CONSTRAINT spendings_pkey PRIMARY KEY (ref), 
	CONSTRAINT spendings_owner_check CHECK (owner = 'grant' OR owner = 'schedule')
)
 STRICT

;
CREATE INDEX spendings_open ON spendings (owner, owner_ref) WHERE spent IS NULL;
CREATE INDEX spendings_run ON spendings (run_ref);
CREATE INDEX spendings_window ON spendings (owner, owner_ref, at);
CREATE TABLE targets (
	ref INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	registered_at INTEGER, 
	CONSTRAINT targets_pkey PRIMARY KEY (ref), 
	CONSTRAINT targets_name_key UNIQUE (name)
)
 STRICT

;
CREATE TABLE trail (
	ref INTEGER NOT NULL, 
	at INTEGER NOT NULL, 
	actor TEXT NOT NULL, 
	action TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	details TEXT, 
	request_id TEXT, 
	address TEXT, 
	hash TEXT NOT NULL, 
	CONSTRAINT trail_pkey PRIMARY KEY (ref)
)
 STRICT

;
CREATE INDEX trail_subject ON trail (subject, ref);
CREATE TABLE users (
	ref INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	role TEXT DEFAULT 'member' NOT NULL, 
	disabled_at INTEGER, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT users_pkey PRIMARY KEY (ref), 
	CONSTRAINT users_role_check CHECK (role = 'admin' OR role = 'member' OR role = 'viewer'), 
	CONSTRAINT users_id_key UNIQUE (id)
)
 STRICT

;
CREATE TABLE webhooks (
	ref INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	url TEXT NOT NULL, 
	events TEXT NOT NULL, 
	secret_env TEXT NOT NULL, 
	all_owners INTEGER DEFAULT 0 NOT NULL, 
	created_at INTEGER NOT NULL, 
	deleted_at INTEGER, 
	CONSTRAINT webhooks_pkey PRIMARY KEY (ref), 
	CONSTRAINT webhooks_id_key UNIQUE (id)
)
 STRICT

;
CREATE INDEX webhooks_owner ON webhooks (owner);
CREATE TABLE workers (
	ref INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	started_at INTEGER NOT NULL, 
	seen_at INTEGER NOT NULL, 
	lease_until INTEGER, 
	stopped_at INTEGER, 
	targets TEXT, 
	CONSTRAINT workers_pkey PRIMARY KEY (ref)
)
 STRICT

;
CREATE INDEX workers_lease ON workers (lease_until) WHERE lease_until IS NOT NULL;
CREATE TABLE workflows (
	ref INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	dag TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	created_by TEXT NOT NULL, 
	CONSTRAINT workflows_pkey PRIMARY KEY (ref), 
	CONSTRAINT workflows_version UNIQUE (id, version)
)
 STRICT

;
CREATE INDEX workflows_owner ON workflows (owner, id);
CREATE TABLE accounts (
	ref INTEGER NOT NULL, 
	user_ref INTEGER NOT NULL, 
	is_default INTEGER NOT NULL, 
	balance INTEGER DEFAULT 0 NOT NULL, 
	is_limited INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT accounts_pkey PRIMARY KEY (ref), 
	CONSTRAINT accounts_user_ref_fkey FOREIGN KEY(user_ref) REFERENCES users (ref)
)
 STRICT

;
CREATE UNIQUE INDEX accounts_default ON accounts (user_ref) WHERE is_default = 1;
CREATE TABLE api_keys (
	ref INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	user_ref INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	rights TEXT NOT NULL, 
	expires_at INTEGER, 
	revoked_at INTEGER, 
	used_at INTEGER, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT api_keys_pkey PRIMARY KEY (ref), 
	CONSTRAINT api_keys_user_ref_fkey FOREIGN KEY(user_ref) REFERENCES users (ref), 
	CONSTRAINT api_keys_digest_key UNIQUE (digest), 
	CONSTRAINT api_keys_id_key UNIQUE (id)
)
 STRICT

;
CREATE INDEX api_keys_user ON api_keys (user_ref);
CREATE TABLE node_states (
	ref INTEGER NOT NULL, 
	run TEXT NOT NULL, 
	workflow_ref INTEGER NOT NULL, 
	user_id TEXT NOT NULL, 
	node TEXT NOT NULL, 
	path TEXT NOT NULL, 
	status TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	input TEXT, 
	output TEXT, 
	vars TEXT, 
	reason TEXT, 
	error TEXT, 
	usages TEXT, 
	idempotency_key TEXT, 
	started_at INTEGER NOT NULL, 
	ended_at INTEGER, 
	CONSTRAINT node_states_pkey PRIMARY KEY (ref), 
	CONSTRAINT node_states_reason_check CHECK (reason IS NULL OR reason = 'aborted' OR reason = 'insufficient_credits' OR reason = 'internal' OR reason = 'invalid_request' OR reason = 'not_found' OR reason = 'provider_unavailable' OR reason = 'rate_limit' OR reason = 'timeout'), 
	CONSTRAINT node_states_status_check CHECK (status = 'DONE' OR status = 'ERROR' OR status = 'PENDING' OR status = 'RUNNING' OR status = 'SKIPPED'), 
	CONSTRAINT node_states_workflow_ref_fkey FOREIGN KEY(workflow_ref) REFERENCES workflows (ref), 
	CONSTRAINT node_states_once UNIQUE (run, node, path)
)
 STRICT

;
CREATE INDEX node_states_age ON node_states (started_at);
CREATE INDEX node_states_key ON node_states (idempotency_key) WHERE idempotency_key IS NOT NULL AND status = 'DONE';
CREATE TABLE schedules (
	ref INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	app TEXT, 
	target INTEGER NOT NULL, 
	spec TEXT NOT NULL, 
	policies TEXT NOT NULL, 
	input TEXT, 
	labels TEXT NOT NULL, 
	memo TEXT, 
	version INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	spec_since INTEGER NOT NULL, 
	deleted_at INTEGER, 
	pause_note TEXT, 
	paused_by TEXT, 
	pruned_before INTEGER DEFAULT 0 NOT NULL, 
	grant_ref INTEGER NOT NULL, 
	owner TEXT NOT NULL, 
	declared TEXT, 
	CONSTRAINT schedules_pkey PRIMARY KEY (ref), 
	CONSTRAINT schedules_target_fkey FOREIGN KEY(target) REFERENCES targets (ref), 
	CONSTRAINT schedules_id_key UNIQUE (id)
)
 STRICT

;
CREATE INDEX schedules_name ON schedules (name, id);
CREATE INDEX schedules_owner ON schedules (owner, id);
CREATE INDEX schedules_updated ON schedules (updated_at);
CREATE TABLE backfills (
	ref INTEGER NOT NULL, 
	schedule_ref INTEGER NOT NULL, 
	target INTEGER NOT NULL, 
	first INTEGER NOT NULL, 
	last INTEGER NOT NULL, 
	which TEXT NOT NULL, 
	direction TEXT NOT NULL, 
	concurrency INTEGER NOT NULL, 
	running INTEGER DEFAULT 0 NOT NULL, 
	started INTEGER DEFAULT 0 NOT NULL, 
	done_to INTEGER NOT NULL, 
	wake_at INTEGER, 
	input TEXT, 
	created_at INTEGER NOT NULL, 
	ended_at INTEGER, 
	cancelled_at INTEGER, 
	CONSTRAINT backfills_pkey PRIMARY KEY (ref), 
	CONSTRAINT backfills_direction_check CHECK (direction = 'newest_first' OR direction = 'oldest_first'), 
	CONSTRAINT backfills_which_check CHECK (which = 'all' OR which = 'failed' OR which = 'missing'), 
	CONSTRAINT backfills_schedule_ref_fkey FOREIGN KEY(schedule_ref) REFERENCES schedules (ref)
)
 STRICT

;
CREATE INDEX backfills_schedule ON backfills (schedule_ref);
CREATE INDEX backfills_wake ON backfills (target, wake_at) WHERE wake_at IS NOT NULL;
CREATE TABLE cursors (
	ref INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	target INTEGER NOT NULL, 
	swept_to INTEGER NOT NULL, 
	wake_at INTEGER, 
	pause_from INTEGER, 
	pause_to INTEGER, 
	running INTEGER DEFAULT 0 NOT NULL, 
	held INTEGER DEFAULT 0 NOT NULL, 
	remaining INTEGER, 
	marks INTEGER DEFAULT 0 NOT NULL, 
	last_result INTEGER, 
	last_failure INTEGER, 
	refusals INTEGER DEFAULT 0 NOT NULL, 
	CONSTRAINT cursors_pkey PRIMARY KEY (ref), 
	CONSTRAINT cursors_ref_fkey FOREIGN KEY(ref) REFERENCES schedules (ref)
)
 STRICT

;
CREATE INDEX cursors_coming ON cursors (wake_at, ref) WHERE wake_at IS NOT NULL AND pause_from IS NULL;
CREATE INDEX cursors_idle ON cursors (ref) WHERE wake_at IS NULL OR pause_from IS NOT NULL;
CREATE INDEX cursors_wake ON cursors (target, wake_at, ref);
CREATE TABLE gaps (
	ref INTEGER NOT NULL, 
	schedule_ref INTEGER NOT NULL, 
	first_at INTEGER NOT NULL, 
	last_at INTEGER NOT NULL, 
	size INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	recorded_at INTEGER NOT NULL, 
	CONSTRAINT gaps_pkey PRIMARY KEY (ref), 
	CONSTRAINT gaps_reason_check CHECK (reason = 'missed' OR reason = 'paused'), 
	CONSTRAINT gaps_schedule_ref_fkey FOREIGN KEY(schedule_ref) REFERENCES schedules (ref)
)
 STRICT

;
CREATE INDEX gaps_slots ON gaps (schedule_ref, first_at);
CREATE TABLE troubles (
	schedule_ref INTEGER NOT NULL, 
	times INTEGER NOT NULL, 
	error TEXT NOT NULL, 
	since INTEGER NOT NULL, 
	until INTEGER NOT NULL, 
	CONSTRAINT troubles_pkey PRIMARY KEY (schedule_ref), 
	CONSTRAINT troubles_schedule_ref_fkey FOREIGN KEY(schedule_ref) REFERENCES schedules (ref)
)
 STRICT

;
CREATE TABLE grants (
	ref INTEGER NOT NULL, 
	user_ref INTEGER NOT NULL, 
	account_ref INTEGER NOT NULL, 
	scopes TEXT NOT NULL, 
	expires_at INTEGER, 
	revoked_at INTEGER, 
	budget TEXT, 
	is_shared INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT grants_pkey PRIMARY KEY (ref), 
	CONSTRAINT grants_account_ref_fkey FOREIGN KEY(account_ref) REFERENCES accounts (ref), 
	CONSTRAINT grants_user_ref_fkey FOREIGN KEY(user_ref) REFERENCES users (ref)
)
 STRICT

;
CREATE INDEX grants_user ON grants (user_ref, ref);
CREATE TABLE notices (
	ref INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	schedule_ref INTEGER NOT NULL, 
	run_ref INTEGER, 
	at INTEGER NOT NULL, 
	data TEXT NOT NULL, 
	addressed_at INTEGER, 
	CONSTRAINT notices_pkey PRIMARY KEY (ref), 
	CONSTRAINT notices_event_check CHECK (event = 'budget.reached' OR event = 'run.failed' OR event = 'run.missed' OR event = 'run.recovered' OR event = 'run.waiting'), 
	CONSTRAINT notices_schedule_ref_fkey FOREIGN KEY(schedule_ref) REFERENCES schedules (ref)
)
 STRICT

;
CREATE INDEX notices_age ON notices (at);
CREATE INDEX notices_new ON notices (ref) WHERE addressed_at IS NULL;
CREATE TABLE past_specs (
	ref INTEGER NOT NULL, 
	schedule_ref INTEGER NOT NULL, 
	spec TEXT NOT NULL, 
	since INTEGER NOT NULL, 
	until INTEGER NOT NULL, 
	ended_by TEXT NOT NULL, 
	CONSTRAINT past_specs_pkey PRIMARY KEY (ref), 
	CONSTRAINT past_specs_ended_by_check CHECK (ended_by = 'deletion' OR ended_by = 'edit' OR ended_by = 'limit'), 
	CONSTRAINT past_specs_schedule_ref_fkey FOREIGN KEY(schedule_ref) REFERENCES schedules (ref)
)
 STRICT

;
CREATE INDEX past_specs_schedule ON past_specs (schedule_ref, until);
CREATE TABLE postings (
	ref INTEGER NOT NULL, 
	account_ref INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	amount INTEGER NOT NULL, 
	balance_after INTEGER NOT NULL, 
	reference TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT postings_pkey PRIMARY KEY (ref), 
	CONSTRAINT postings_kind_check CHECK (kind = 'charge' OR kind = 'refund' OR kind = 'top_up'), 
	CONSTRAINT postings_account_ref_fkey FOREIGN KEY(account_ref) REFERENCES accounts (ref), 
	CONSTRAINT postings_once UNIQUE (account_ref, kind, reference)
)
 STRICT

;
CREATE INDEX postings_account ON postings (account_ref, ref);
CREATE TABLE receipts (
	ref INTEGER NOT NULL, 
	account_ref INTEGER NOT NULL, 
	source TEXT NOT NULL, 
	reference TEXT NOT NULL, 
	run_ref INTEGER NOT NULL, 
	unit TEXT NOT NULL, 
	model TEXT, 
	tokens INTEGER, 
	cost TEXT, 
	credits INTEGER, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT receipts_pkey PRIMARY KEY (ref), 
	CONSTRAINT receipts_account_ref_fkey FOREIGN KEY(account_ref) REFERENCES accounts (ref), 
	CONSTRAINT receipts_once UNIQUE (source, reference)
)
 STRICT

;
CREATE INDEX receipts_run ON receipts (run_ref);
CREATE TABLE deliveries (
	ref INTEGER NOT NULL, 
	notice_ref INTEGER NOT NULL, 
	webhook_ref INTEGER NOT NULL, 
	tries INTEGER DEFAULT 0 NOT NULL, 
	next_at INTEGER, 
	arrived_at INTEGER, 
	error TEXT, 
	CONSTRAINT deliveries_pkey PRIMARY KEY (ref), 
	CONSTRAINT deliveries_notice_ref_fkey FOREIGN KEY(notice_ref) REFERENCES notices (ref), 
	CONSTRAINT deliveries_webhook_ref_fkey FOREIGN KEY(webhook_ref) REFERENCES webhooks (ref), 
	CONSTRAINT deliveries_once UNIQUE (notice_ref, webhook_ref)
)
 STRICT

;
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_webhook ON deliveries (webhook_ref, ref);
INSERT INTO alembic_version ("version_num") VALUES
('0001');
INSERT INTO costs ("run_ref", "credits", "deferred") VALUES
(-3, 20000, 0),
(13, 20000, 1),
(61, 20000, 0),
(62, 20000, 0),
(82, 20000, 0);
INSERT INTO execution_requests ("ref", "key", "hash", "target", "caller", "grant_ref", "run", "attempt", "run_ref", "stage", "owner", "token", "lease_until", "verdict", "decided_by", "outcome", "created_at", "ended_at") VALUES
(1, 'order-1', 'ae613b0d65ef0479d6f7da04774d6f8f', 'python:quick', 'local', 1, 'request-8d896b270eeb76cb', 1, NULL, 'done', 'a process that is gone', 1, 1794758490000000, NULL, NULL, '["success",null,"{\"order\":1}",null,null]', 1794758460000000, 1794758460000000),
(2, 'order-2', 'fbabcb3b8f8947d6fcb674bdb043f257', 'python:long', 'local', 1, 'request-aa4fec79e348cdb9', 1, NULL, 'in_progress', 'a process that is gone', 1, 1794765630000000, NULL, NULL, NULL, 1794765570000000, NULL),
(3, 'order-3', '57edf57f14db1e3b16e5b46ab8639483', 'python:paid', 'local', 5, 'request-29e9aaeb54340350', 1, NULL, 'done', 'a process that is gone', 1, 1794765605000000, NULL, NULL, '["success",null,null,null,null]', 1794765575000000, 1794765575000000),
(4, 'order-4', '691335124988e8d3a939c2fee1f3b1d7', 'python:long', 'local', 5, 'request-1e81103680d172d8', 1, NULL, 'in_progress', 'a process that is gone', 1, 1794765630000000, NULL, NULL, NULL, 1794765580000000, NULL);
INSERT INTO kept_answers ("ref", "scope", "key", "fingerprint", "status", "headers", "body", "created_at") VALUES
(1, 'local POST /api/v1/schedules', 'one', 'd5569488c53b7a2a4c6b1203423d216e2f7308466d186b5d9abd37a4654864ea', 201, '{"ETag": "\"1\""}', '{"id":"asked-for","name":"asked-for","app":null,"owner":"local","target":"python:quick","spec":{"summary":"Every 45 min (UTC)","timezone":"UTC","said":{"every":"45m","timezone":"UTC"},"canonical":{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":2700,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}},"policies":{"overlap":"skip","buffer":1000,"catchup":"none","catchup_window":null,"catchup_cap":100,"grace":"1m","lookahead":"1m","retry":null,"timeout":null,"limit":null,"pause_on_failure":false,"budget":null,"max_calls":null,"max_tokens":null,"max_credits":null},"labels":{},"token":1,"standing":"active","note":null,"paused_by":null,"paused_until":null,"next_at":"2026-11-15T13:30:00Z","swept_to":"2026-11-15T13:10:00Z","running":0,"held":0,"remaining":null,"grant":"grant-4","needs_attention":false,"created_at":"2026-11-15T13:10:00Z","updated_at":"2026-11-15T13:10:00Z","input":null,"memo":null}', 1794748200000000);
INSERT INTO questions ("ref", "run_ref", "schedule_ref", "round", "kind", "data", "who", "reference", "asked_at", "expires_at", "at_expiry", "decision", "verdict", "feedback", "decided_by", "closed_at") VALUES
(1, 145, 14, 1, 'approve', '{"draft":1}', '[]', NULL, 1794765600000000, 1795370400000000, 'reject', NULL, NULL, NULL, NULL, NULL);
INSERT INTO revisions ("name", "number") VALUES
('grants', 1),
('keys', 2),
('targets', 2),
('trail', 45),
('webhooks', 1);
INSERT INTO runs ("ref", "schedule_ref", "nominal_at", "due_at", "kind", "backfill", "attempt", "status", "reason", "hold", "occupies", "overlap", "orders", "grant_ref", "worker", "token", "losses", "rounds", "ready_for", "ready_at", "retry_of", "version", "created_at", "started_at", "ended_at", "input", "result", "error", "progress") VALUES
(1, 4, 1794744300000000, 1794744300000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794744300000000, 1794744300000000, 1794744300000000, NULL, NULL, NULL, NULL),
(2, 8, 1794744900000000, 1794744900000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794744900000000, 1794744900000000, 1794744900000000, NULL, NULL, NULL, NULL),
(3, 3, 1794745200000000, 1794745229592575, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794745229592575, 1794745229592575, 1794745229592575, NULL, NULL, NULL, NULL),
(4, 10, 1794745800000000, 1794745800000000, 'slot', 0, 1, 'running', NULL, NULL, 1, NULL, NULL, 1, 2, 3, 1, 0, NULL, NULL, NULL, 1, 1794745800000000, 1794745800000000, NULL, NULL, NULL, NULL, NULL),
(5, 8, 1794745800000000, 1794745800000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794745800000000, 1794745800000000, 1794745800000000, NULL, NULL, NULL, NULL),
(6, 9, 1794745800000000, 1794745800000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794745800000000, 1794745800000000, 1794745800000000, NULL, NULL, NULL, NULL),
(7, 15, 1794745800000000, 1794745800000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794745800000000, 1794745800000000, 1794745800000000, NULL, NULL, NULL, NULL),
(8, 16, 1794745800000000, 1794745800000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794745800000000, 1794745800000000, 1794745800000000, NULL, NULL, NULL, NULL),
(9, 17, 1794745800000000, 1794745800000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794745800000000, 1794745800000000, 1794745800000000, NULL, NULL, NULL, NULL),
(10, 3, 1794746400000000, 1794746416811426, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794746416811426, 1794746416811426, 1794746416811426, NULL, NULL, NULL, NULL),
(11, 8, 1794746700000000, 1794746700000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794746700000000, 1794746700000000, 1794746700000000, NULL, NULL, NULL, NULL),
(12, 24, 1794747000000000, 1794747000000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747000000000, 1794747000000000, 1794747000000000, NULL, '{"nodes":{"note":"DONE","tick":"DONE"},"outputs":{}}', NULL, NULL),
(13, 21, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 2, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL),
(14, 23, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'skipped', 'over_budget', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, NULL, 1794747600000000, NULL, NULL, NULL, NULL),
(15, 10, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, NULL, 1794747600000000, NULL, NULL, NULL, NULL),
(16, 11, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'running', NULL, NULL, 1, NULL, NULL, 1, 2, 3, 1, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL, NULL),
(17, 12, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'running', NULL, NULL, 1, NULL, NULL, 1, 2, 3, 1, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL, NULL),
(18, 19, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'running', NULL, NULL, 1, NULL, NULL, 1, 2, 3, 1, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL, NULL),
(19, 8, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL),
(20, 9, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL),
(21, 15, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL),
(22, 16, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL),
(23, 17, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL),
(24, 18, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL),
(25, 22, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 3, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, 1794747600000000, NULL, NULL, NULL, NULL),
(26, 24, 1794747600000000, 1794747600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747600000000, 1794747600000000, 1794747600000000, NULL, '{"nodes":{"note":"DONE","tick":"DONE"},"outputs":{}}', NULL, NULL),
(27, 3, 1794747600000000, 1794747604825890, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747604825890, 1794747604825890, 1794747604825890, NULL, NULL, NULL, NULL),
(28, 4, 1794747900000000, 1794747900000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794747900000000, 1794747900000000, 1794747900000000, NULL, NULL, NULL, NULL),
(29, 2, 1794766500000000, 1794766500000000, 'slot', 0, 1, 'skipped', 'skipped_by_user', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794748200000000, NULL, 1794748200000000, NULL, NULL, NULL, NULL),
(30, 7, 1794748200000000, 1794748200000000, 'manual', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794748200000000, 1794748200000000, 1794748200000000, '{"by":"hand"}', '{"by":"hand"}', NULL, NULL),
(31, 16, 1794748800000000, 1794748800000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 2, 1794748800000000, 1794748800000000, 1794748800000000, NULL, NULL, NULL, NULL),
(32, 3, 1794748800000000, 1794748817756958, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794748817756958, 1794748817756958, 1794748817756958, NULL, NULL, NULL, NULL),
(33, 10, 1794749400000000, 1794749400000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794749400000000, NULL, 1794749400000000, NULL, NULL, NULL, NULL),
(34, 5, 1794749400000000, 1794749400000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794749400000000, 1794749400000000, 1794749400000000, NULL, NULL, NULL, NULL),
(35, 25, 1794749400000000, 1794749400000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 4, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794749400000000, 1794749400000000, 1794749400000000, NULL, NULL, NULL, NULL),
(36, 3, 1794750000000000, 1794750009009693, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794750009009693, 1794750009009693, 1794750009009693, NULL, NULL, NULL, NULL),
(37, 24, 1794750600000000, 1794750600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794750600000000, 1794750600000000, 1794750600000000, NULL, '{"nodes":{"note":"DONE","tick":"DONE"},"outputs":{}}', NULL, NULL),
(52, 13, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'error', 'internal', NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794751200000000, 1794751200000000, 1794751200000000, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(53, 10, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794751200000000, NULL, 1794751200000000, NULL, NULL, NULL, NULL),
(54, 11, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'pending', NULL, 'overlap', 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794751200000000, NULL, NULL, NULL, NULL, NULL, NULL),
(55, 12, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'skipped', 'superseded', NULL, 0, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, NULL, NULL, 1, 1794751200000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(56, 16, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 2, 1794751200000000, 1794751200000000, 1794751200000000, NULL, NULL, NULL, NULL),
(61, 21, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 2, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794751200000000, 1794751200000000, 1794751200000000, NULL, NULL, NULL, NULL),
(62, 23, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 2, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794751200000000, 1794751200000000, 1794751200000000, NULL, NULL, NULL, NULL),
(63, 22, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'skipped', 'grant_revoked', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794751200000000, NULL, 1794751200000000, NULL, NULL, NULL, NULL),
(64, 19, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794751200000000, NULL, 1794751200000000, NULL, NULL, NULL, NULL),
(65, 13, 1794751200000000, 1794751837181816, 'slot', 0, 2, 'error', 'internal', NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, 52, 1, 1794751200000000, 1794758460000000, 1794758460000000, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(66, 24, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794751200000000, 1794751200000000, 1794751200000000, NULL, '{"nodes":{"note":"DONE","tick":"DONE"},"outputs":{}}', NULL, NULL),
(67, 3, 1794751200000000, 1794751217402877, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 1, 1794751217402877, 1794751217402877, 1794751217402877, NULL, NULL, NULL, NULL),
(68, 18, 1794751200000000, 1794751200000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 1, 1, 0, 0, NULL, NULL, NULL, 3, 1794751260000000, 1794751260000000, 1794751260000000, NULL, NULL, NULL, NULL),
(69, 14, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(70, 13, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(71, 10, 1794753000000000, 1794753000000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(72, 10, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(73, 10, 1794756600000000, 1794756600000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(74, 10, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(75, 11, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(76, 11, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'pending', NULL, 'overlap', 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, NULL, NULL, NULL, NULL, NULL),
(77, 12, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(78, 12, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'skipped', 'superseded', NULL, 0, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794762000000000, NULL, NULL, NULL, NULL),
(79, 19, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(80, 19, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(81, 21, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(82, 21, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 2, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, 1794758460000000, 1794758460000000, NULL, NULL, NULL, NULL),
(83, 23, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(84, 23, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'skipped', 'over_budget', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(85, 26, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, 1794758460000000, 1794758460000000, NULL, NULL, NULL, NULL),
(86, 26, 1794758420000000, 1794758420000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(87, 26, 1794758440000000, 1794758440000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(88, 26, 1794758460000000, 1794758460000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(89, 25, 1794752100000000, 1794752100000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(90, 25, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(91, 25, 1794757500000000, 1794757500000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(92, 3, 1794752400000000, 1794752408339020, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(93, 3, 1794753600000000, 1794753615974051, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(94, 3, 1794754800000000, 1794754829667733, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(95, 3, 1794756000000000, 1794756019424290, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(96, 3, 1794757200000000, 1794757207699770, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(97, 3, 1794758400000000, 1794758417653627, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, 1794758460000000, 1794758460000000, NULL, NULL, NULL, NULL),
(98, 16, 1794753600000000, 1794753600000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 2, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(99, 16, 1794756000000000, 1794756000000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 2, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(100, 16, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 2, 1794758460000000, 1794758460000000, 1794758460000000, NULL, NULL, NULL, NULL),
(101, 18, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 3, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(102, 18, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 3, 1794758460000000, 1794758460000000, 1794758460000000, NULL, NULL, NULL, NULL),
(103, 20, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(104, 22, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(105, 22, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'skipped', 'grant_revoked', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(106, 4, 1794755100000000, 1794755100000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(107, 24, 1794754200000000, 1794754200000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(108, 24, 1794754800000000, 1794754800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(109, 24, 1794757800000000, 1794757800000000, 'slot', 0, 1, 'skipped', 'missed', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, NULL, 1794758460000000, NULL, NULL, NULL, NULL),
(110, 24, 1794758400000000, 1794758400000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794758460000000, 1794758460000000, 1794758460000000, NULL, '{"nodes":{"note":"DONE","tick":"DONE"},"outputs":{}}', NULL, NULL),
(111, 13, 1794751200000000, 1794759101615520, 'slot', 0, 3, 'error', 'internal', NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, 65, 1, 1794758460000000, 1794759101615520, 1794759101615520, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(112, 19, 1794708000000000, 1794758465000000, 'backfill', 1, 1, 'running', NULL, NULL, 0, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794758465000000, 1794758465000000, NULL, NULL, NULL, NULL, NULL),
(113, 19, 1794711600000000, 1794758465000000, 'backfill', 1, 1, 'running', NULL, NULL, 0, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794758465000000, 1794758465000000, NULL, NULL, NULL, NULL, NULL),
(114, 4, 1794758700000000, 1794758700000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794758700000000, 1794758700000000, 1794758700000000, NULL, NULL, NULL, NULL),
(115, 13, 1794751200000000, 1794759724185657, 'slot', 0, 4, 'error', 'internal', NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, 111, 1, 1794759101615520, 1794759724185657, 1794759724185657, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(116, 3, 1794759600000000, 1794759606777693, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794759606777693, 1794759606777693, 1794759606777693, NULL, NULL, NULL, NULL),
(117, 13, 1794751200000000, 1794760340116861, 'slot', 0, 5, 'error', 'internal', NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, 115, 1, 1794759724185657, 1794760340116861, 1794760340116861, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(118, 10, 1794760200000000, 1794760200000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794760200000000, NULL, 1794760200000000, NULL, NULL, NULL, NULL),
(119, 25, 1794760200000000, 1794760200000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 4, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794760200000000, 1794760200000000, 1794760200000000, NULL, NULL, NULL, NULL),
(120, 13, 1794751200000000, 1794761047500879, 'slot', 0, 6, 'error', 'internal', NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, 117, 1, 1794760340116861, 1794761047500879, 1794761047500879, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(121, 16, 1794760800000000, 1794760800000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 2, 1794760800000000, 1794760800000000, 1794760800000000, NULL, NULL, NULL, NULL),
(122, 3, 1794760800000000, 1794760810738584, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794760810738584, 1794760810738584, 1794760810738584, NULL, NULL, NULL, NULL),
(123, 13, 1794751200000000, 1794761692737565, 'slot', 0, 7, 'error', 'internal', NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, 120, 1, 1794761047500879, 1794761692737565, 1794761692737565, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(124, 24, 1794761400000000, 1794761400000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794761400000000, 1794761400000000, 1794761400000000, NULL, '{"nodes":{"note":"DONE","tick":"DONE"},"outputs":{}}', NULL, NULL),
(125, 13, 1794751200000000, 1794762331255644, 'slot', 0, 8, 'error', 'internal', NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, 123, 1, 1794761692737565, 1794762331255644, 1794762331255644, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(126, 21, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'skipped', 'over_budget', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794762000000000, NULL, 1794762000000000, NULL, NULL, NULL, NULL),
(127, 23, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'skipped', 'over_budget', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794762000000000, NULL, 1794762000000000, NULL, NULL, NULL, NULL),
(128, 10, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794762000000000, NULL, 1794762000000000, NULL, NULL, NULL, NULL),
(129, 11, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'pending', NULL, 'overlap', 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794762000000000, NULL, NULL, NULL, NULL, NULL, NULL),
(130, 12, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'skipped', 'superseded', NULL, 0, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, NULL, NULL, 1, 1794762000000000, NULL, 1794765600000000, NULL, NULL, NULL, NULL),
(131, 19, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794762000000000, NULL, 1794762000000000, NULL, NULL, NULL, NULL),
(132, 18, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 3, 1794762000000000, 1794762000000000, 1794762000000000, NULL, NULL, NULL, NULL),
(133, 22, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'skipped', 'grant_revoked', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794762000000000, NULL, 1794762000000000, NULL, NULL, NULL, NULL),
(134, 26, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 2, 1794762000000000, 1794762000000000, 1794762000000000, NULL, NULL, NULL, NULL),
(135, 24, 1794762000000000, 1794762000000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794762000000000, 1794762000000000, 1794762000000000, NULL, '{"nodes":{"note":"DONE","tick":"DONE"},"outputs":{}}', NULL, NULL),
(136, 3, 1794762000000000, 1794762016408620, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794762016408620, 1794762016408620, 1794762016408620, NULL, NULL, NULL, NULL),
(137, 4, 1794762300000000, 1794762300000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794762300000000, 1794762300000000, 1794762300000000, NULL, NULL, NULL, NULL),
(138, 13, 1794751200000000, 1794762963592054, 'slot', 0, 9, 'error', 'internal', NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, 125, 1, 1794762331255644, 1794762963592054, 1794762963592054, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(139, 25, 1794762900000000, 1794762900000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 4, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794762900000000, 1794762900000000, 1794762900000000, NULL, NULL, NULL, NULL),
(140, 16, 1794763200000000, 1794763200000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 2, 1794763200000000, 1794763200000000, 1794763200000000, NULL, NULL, NULL, NULL),
(141, 3, 1794763200000000, 1794763227869984, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794763227869984, 1794763227869984, 1794763227869984, NULL, NULL, NULL, NULL),
(142, 10, 1794763800000000, 1794763800000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794763800000000, NULL, 1794763800000000, NULL, NULL, NULL, NULL),
(143, 3, 1794764400000000, 1794764403179966, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794764403179966, 1794764403179966, 1794764403179966, NULL, NULL, NULL, NULL),
(144, 24, 1794765000000000, 1794765000000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794765000000000, 1794765000000000, 1794765000000000, NULL, '{"nodes":{"note":"DONE","tick":"DONE"},"outputs":{}}', NULL, NULL),
(145, 14, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'waiting', NULL, NULL, 1, NULL, NULL, 1, NULL, 1, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, 1794765600000000, NULL, NULL, NULL, NULL, NULL),
(146, 21, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'skipped', 'over_budget', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, NULL, 1794765600000000, NULL, NULL, NULL, NULL),
(147, 23, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'skipped', 'over_budget', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, NULL, 1794765600000000, NULL, NULL, NULL, NULL),
(148, 10, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, NULL, 1794765600000000, NULL, NULL, NULL, NULL),
(149, 11, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'pending', NULL, 'overlap', 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, NULL, NULL, NULL, NULL, NULL, NULL),
(150, 12, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'pending', NULL, 'overlap', 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, NULL, NULL, NULL, NULL, NULL, NULL),
(151, 19, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'skipped', 'overlap', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, NULL, 1794765600000000, NULL, NULL, NULL, NULL),
(152, 13, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'error', 'internal', NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, 1794765600000000, 1794765600000000, NULL, NULL, 'RuntimeError: the printer burns', NULL),
(153, 16, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 2, 1794765600000000, 1794765600000000, 1794765600000000, NULL, NULL, NULL, NULL),
(154, 18, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 3, 1794765600000000, 1794765600000000, 1794765600000000, NULL, NULL, NULL, NULL),
(155, 22, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'skipped', 'grant_revoked', NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, NULL, 1794765600000000, NULL, NULL, NULL, NULL),
(156, 25, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 4, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, 1794765600000000, 1794765600000000, NULL, NULL, NULL, NULL),
(157, 26, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 2, 1794765600000000, 1794765600000000, 1794765600000000, NULL, NULL, NULL, NULL),
(158, 24, 1794765600000000, 1794765600000000, 'slot', 0, 1, 'success', NULL, NULL, 1, NULL, NULL, 1, 2, 1, 0, 0, NULL, NULL, NULL, 1, 1794765600000000, 1794765600000000, 1794765600000000, NULL, '{"nodes":{"note":"DONE","tick":"DONE"},"outputs":{}}', NULL, NULL),
(159, 13, 1794765600000000, 1794766274826049, 'slot', 0, 2, 'pending', NULL, 'retry', 1, NULL, NULL, NULL, NULL, 0, 0, 0, 3, 1794766274826049, 152, 1, 1794765600000000, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO spendings ("ref", "owner", "owner_ref", "run_ref", "at", "reserved", "spent", "is_over") VALUES
(1, 'grant', 2, 13, 1794747600000000, 90000, NULL, 0),
(2, 'grant', 2, 61, 1794751200000000, 20000, 20000, 0),
(3, 'schedule', 23, 62, 1794751200000000, 50000, 20000, 0),
(4, 'grant', 2, 62, 1794751200000000, 50000, 20000, 0),
(5, 'grant', 2, 82, 1794758460000000, 20000, 20000, 0),
(6, 'grant', 5, -3, 1794765575000000, 500000, 20000, 1),
(7, 'grant', 5, -4, 1794765580000000, 20000, NULL, 0);
INSERT INTO targets ("ref", "name", "registered_at") VALUES
(1, 'dag:', 1794744000000000),
(2, 'python:asking', 1794744000000000),
(3, 'python:failing', 1794744000000000),
(4, 'python:long', 1794744000000000),
(5, 'python:paid', 1794744000000000),
(6, 'python:quick', 1794744000000000),
(7, 'dag:flow', NULL);
INSERT INTO trail ("ref", "at", "actor", "action", "subject", "details", "request_id", "address", "hash") VALUES
(1, 1794744000000000, 'local', 'schedule.create', 'schedule/nightly', '{"target":"python:quick"}', NULL, NULL, '1790fc0abf97b83c30879430b9bbd72cc27cde60a395e67934edc3da4f87f008'),
(2, 1794744000000000, 'local', 'user.put', 'user/eve', '{"role":"viewer"}', NULL, NULL, '140f1224fb2c2cbc7cffefaea979a9adc53e066d2cf9834e36c5c2ce8d92684e'),
(3, 1794744000000000, 'local', 'user.disable', 'user/old', NULL, NULL, NULL, 'fe83e41aa3fcc93c8741f5e6d507a2d1070e12f086637eb645c16c1762c563d8'),
(4, 1794744000000000, 'local', 'key.create', 'key/000000000000', '{"name":"admin","rights":["admin","decide","read","write"],"user":"local"}', NULL, NULL, 'da42bfc2c48e2b2abf3b855e37684bc8de9d9500e09f93c571a31ecea74ef4f5'),
(5, 1794744000000000, 'local', 'webhook.create', 'webhook/000000000001', '{"all_owners":false,"events":["run.failed","run.missed","run.recovered","budget.reached","run.waiting"],"host":"hook.test"}', NULL, NULL, '065e6c141b6f8db674be0885dc1768553063525cbae58a18b7064e5e5b18f078'),
(6, 1794744000000000, 'local', 'schedule.create', 'schedule/cron', '{"target":"python:quick"}', NULL, NULL, '6fe4479f1524a6ab16f445e364d0c45a12f7bfad808c07447338209126e98df7'),
(7, 1794744000000000, 'local', 'schedule.create', 'schedule/interval', '{"target":"python:quick"}', NULL, NULL, '5becf96084dc779d96c7f9dbea502de8d7feef8481192e5fae4ec274380aa156'),
(8, 1794744000000000, 'local', 'schedule.create', 'schedule/calendar', '{"target":"python:quick"}', NULL, NULL, 'c43bbb2c10d1e2be82463bb073fe6052f10250e2f28939f3da3e5c85f332ef19'),
(9, 1794744000000000, 'local', 'schedule.create', 'schedule/once', '{"target":"python:quick"}', NULL, NULL, 'c0c639170973d4b3a2d1670284d3e41a8aacfd9b7b54768b91d0ac48ed5ebea7'),
(10, 1794744000000000, 'local', 'schedule.create', 'schedule/later', '{"target":"python:quick"}', NULL, NULL, 'e18f1dd7b977d5bcf5bcab62393f4347fbb5b308c3c2ed498d2c637cc11c2526'),
(11, 1794744000000000, 'local', 'schedule.create', 'schedule/manual', '{"target":"python:quick"}', NULL, NULL, 'dadebe4ad9504f9223f4e8ebe0183941a2e92d3a0f3c61b2195a0ba0f863ceb9'),
(12, 1794744000000000, 'local', 'schedule.create', 'schedule/paused', '{"target":"python:quick"}', NULL, NULL, '2907afba5a4ab109621d1f03e0f2f4a15fdfc2283efd69dbc089449f095382e8'),
(13, 1794744000000000, 'local', 'schedule.create', 'schedule/paused-until', '{"target":"python:quick"}', NULL, NULL, '776904d509f68248d20bef70090ae567bdef94073369a0cb94484993a3dacde6'),
(14, 1794744000000000, 'local', 'schedule.create', 'schedule/skipping', '{"target":"python:long"}', NULL, NULL, '63ebadacb03a6469d9cc1962cc9cfe2979683f1e24846783c520e871aff4b58b'),
(15, 1794744000000000, 'local', 'schedule.create', 'schedule/holding', '{"target":"python:long"}', NULL, NULL, '19775fcd568fa82f9c41de1df497ae019978bb1263b9b04220f0446f5fb85e09'),
(16, 1794744000000000, 'local', 'schedule.create', 'schedule/newest', '{"target":"python:long"}', NULL, NULL, '556bcc5c27d3b0aac8f0c361640fbe9972fae10b08ec2ba81fd1770c81056416'),
(17, 1794744000000000, 'local', 'schedule.create', 'schedule/retried', '{"target":"python:failing"}', NULL, NULL, '016fc595085e62f120fdf70649f81708940dc01befd50d83731188d96319b052'),
(18, 1794744000000000, 'local', 'schedule.create', 'schedule/asking', '{"target":"python:asking"}', NULL, NULL, '5310d6e1b2d46c80982fc88138ced1718ba6a3303b5bbfde07d7a0a19b637538'),
(19, 1794744000000000, 'local', 'schedule.create', 'schedule/few', '{"target":"python:quick"}', NULL, NULL, '7d1a2b116584b446497b08e503191b58d0882fc5ec12c583fb1a715c26e37651'),
(20, 1794744000000000, 'local', 'schedule.create', 'schedule/edited', '{"target":"python:quick"}', NULL, NULL, '0cb3799003cc902ae191e013a6938b08917df0ac7ebe7182818c71e61ea82440'),
(21, 1794744000000000, 'local', 'schedule.create', 'schedule/gone', '{"target":"python:quick"}', NULL, NULL, 'a1f92dfa16f16d003a65a6d5645c7b485b8611c5252304cfffd61ec0356bcf39'),
(22, 1794744000000000, 'local', 'schedule.create', 'schedule/spoilt', '{"target":"python:quick"}', NULL, NULL, '5728f4dc90efb696656b79d86bf8f61900d736605ca54a77e84696782af58372'),
(23, 1794744000000000, 'local', 'schedule.create', 'schedule/filled', '{"target":"python:long"}', NULL, NULL, '89d4729d17ef585c060d28755ccd9e403d7370520d6e747426fac428565a0038'),
(24, 1794744000000000, 'local', 'schedule.create', 'schedule/declared', '{"target":"python:quick"}', NULL, NULL, '0e02db7515aa91474ffc4a09fb708e9d2e8ed82d8e5ec144536927aa79c50337'),
(25, 1794744000000000, 'local', 'set.apply', 'set/mail', '{"create":1}', NULL, NULL, 'fea96d6100f76fecdbf41534330827c73b4244e7fe7809ecd66aedd798d08043'),
(26, 1794744000000000, 'local', 'account.limit', 'account/ann', '{"limited":true}', NULL, NULL, 'ebec0627b21ac25c8ac249a7e2a142a6e13dfa870455324348f529d88c6499a3'),
(27, 1794744000000000, 'local', 'account.top_up', 'account/ann', '{"credits":1000000,"reference":"invoice-1"}', NULL, NULL, '05d63b08ae1a571f850236c3cbcc679ed89bcc8e6de995a23683f11349ad43ca'),
(28, 1794744000000000, 'local', 'grant.create', 'grant/grant-2', '{"scopes":["graph:execute:dag:*","graph:execute:python:*"],"user":"ann"}', NULL, NULL, '94b4c885741716fd4f5768a378f14c4aef8ad605c569a81f7ee0704112a56723'),
(29, 1794744000000000, 'local', 'grant.create', 'grant/grant-3', '{"scopes":["graph:execute:dag:*","graph:execute:python:*"],"user":"ann"}', NULL, NULL, 'f280e411f7a95b49599f80ba0b9ac52d9b8f53bde254a5f94ffbbd0956758f82'),
(30, 1794744000000000, 'local', 'schedule.create', 'schedule/paid', '{"target":"python:paid"}', NULL, NULL, 'b96997a214d7e19ad50b40d4cbf8e2b1620484fd733e60e829f25fcaa39d0cf8'),
(31, 1794744000000000, 'local', 'schedule.create', 'schedule/revoked', '{"target":"python:quick"}', NULL, NULL, '84b427d46ad20ffc1b6594b349f8f9d460c60f11482f6831d39fd21eafe15134'),
(32, 1794744000000000, 'local', 'schedule.create', 'schedule/thrifty', '{"target":"python:paid"}', NULL, NULL, 'a44451a9afa78fc0ce458d26e474384ed8f8a77c923841b8b867270be3c27584'),
(33, 1794744000000000, 'local', 'workflow.deploy', 'workflow/flow', '{"hash":"fd9efeb6df0262008ccbf784088e7e746d24c884fbe71d625056081618b13654"}', NULL, NULL, '27d38966b86a340458044fe26b0cc81450ac219e98ba86ee416478aac6e018f5'),
(34, 1794744000000000, 'local', 'schedule.create', 'schedule/dag-flow-tick-3ee74576f46b', '{"target":"dag:flow"}', NULL, NULL, '92c59bab25fe7e9bf1cd9a91b4ae1b1e9d928e3b12470387d5457f59c6597a1f'),
(35, 1794744000000000, 'local', 'workflow.deploy', 'workflow/two', '{"hash":"efb49c26c6d311ade3ee10e55e90047e90c17c83ac4d93ff2b7dbc9fea0a09d2"}', NULL, NULL, '3a95230dcbe2f17313ab1e9bc0e5e3a88af4291cfc965da253febccbf97029c6'),
(36, 1794748200000000, 'local', 'grant.revoke', 'grant/grant-3', '{"stop":false}', NULL, NULL, 'b3ff2db54bf9a9d4f5d34636aaa02a92c016a50da437a42c5c44fb7edaad57a5'),
(37, 1794748200000000, 'local', 'schedule.pause', 'schedule/paused', '{"by":"user","note":"the printer burns"}', NULL, NULL, '59eaa272360365ca21d8f1fb15b6509337b35d27bdd68e5f20266d9d778bb490'),
(38, 1794748200000000, 'local', 'schedule.pause', 'schedule/paused-until', '{"by":"user","until":"2026-11-15T20:00:00Z"}', NULL, NULL, 'afa872108db946b0f6031b03e1338a1f7c5281e0637fbc0c232da566ee21ae54'),
(39, 1794748200000000, 'local', 'schedule.skip', 'schedule/cron', '{"at":"2026-11-15T18:15:00Z"}', NULL, NULL, '5f5bf8583e7c17ddc74a3ba9f527bff8b7e7970705851af1fee97a23077bdcff'),
(40, 1794748200000000, 'local', 'schedule.edit', 'schedule/edited', '{"changed":["spec"],"token":2}', NULL, NULL, '4e889495ac4c44de091198fbcf5951aa28b0af88ae79998d8535ed253a227805'),
(41, 1794748200000000, 'local', 'schedule.delete', 'schedule/gone', NULL, NULL, NULL, 'ac2dca5baafa8d6f7297f2b5a10b3a503e84582cd247db28a210a3f0faa24434'),
(42, 1794748200000000, 'local', 'schedule.trigger', 'schedule/manual', '{"at":"2026-11-15T13:10:00Z"}', NULL, NULL, '281cc95f05bddbed6b3e7206655bfd00bfb71cf28f3ce16637db4b53d8c35f0a'),
(43, 1794748200000000, 'local', 'schedule.create', 'schedule/asked-for', '{"target":"python:quick"}', '000000000002', 'testclient', '0e11ea73f6de4ac602bb74f96b69a6873e47598d6b1d62d61315a26320da6926'),
(44, 1794751320000000, 'local', 'schedule.create', 'schedule/often', '{"target":"python:quick"}', NULL, NULL, '2d04c93ed975cd479f24fc09a4793e4223d1795962c32c417d9ee0f0f1e407e3'),
(45, 1794758460000000, 'local', 'schedule.edit', 'schedule/often', '{"changed":["spec"],"token":2}', NULL, NULL, 'b55976b3b4051fc13419ca8c3e9062c36553f9188338b3a00e651c3ca6665423'),
(46, 1794758465000000, 'local', 'schedule.backfill', 'schedule/filled', '{"backfill":1,"end":"2026-11-15T10:00:00Z","start":"2026-11-15T02:00:00Z","which":"missing"}', NULL, NULL, 'eb981a4ae43497810c86999247cda0593e0af781bc8ea6dc7d325d5293cd719f'),
(47, 1794765575000000, 'local', 'grant.create', 'grant/grant-5', '{"scopes":["graph:execute:dag:*","graph:execute:python:*"],"user":"ann"}', NULL, NULL, '15941c1bc584863f960cc2ed2db7fd7b382e661e8a3fb358a75c609f21d7526b');
INSERT INTO users ("ref", "id", "role", "disabled_at", "created_at") VALUES
(1, 'local', 'member', NULL, 1794744000000000),
(2, 'ann', 'member', NULL, 1794744000000000),
(3, 'eve', 'viewer', NULL, 1794744000000000),
(4, 'old', 'member', 1794744000000000, 1794744000000000);
INSERT INTO webhooks ("ref", "id", "owner", "url", "events", "secret_env", "all_owners", "created_at", "deleted_at") VALUES
(1, '000000000001', 'local', 'https://hook.test/in', '["run.failed", "run.missed", "run.recovered", "budget.reached", "run.waiting"]', 'FOLIOT_WEBHOOK_TEST', 0, 1794744000000000, NULL);
INSERT INTO workers ("ref", "name", "started_at", "seen_at", "lease_until", "stopped_at", "targets") VALUES
(1, 'worker 1', 1794744000000000, 1794751320000000, NULL, 1794758460000000, '["dag:*", "python:asking", "python:failing", "python:long", "python:paid", "python:quick"]'),
(2, 'worker 2', 1794758460000000, 1794765600000000, 1794765630000000, NULL, '["dag:*", "python:asking", "python:failing", "python:long", "python:paid", "python:quick"]');
INSERT INTO workflows ("ref", "id", "owner", "version", "dag", "hash", "created_at", "created_by") VALUES
(1, 'flow', 'local', 1, '{"edges":[{"source":"tick","target":"note"}],"nodes":[{"data":{"kind":"schedule_based","schedule":{"cron_expr":"*/50 * * * *"}},"id":"tick","type":"trigger"},{"data":{"action":"note","retry":{"retries":0}},"id":"note","type":"action"}],"workflow_id":"flow"}', 'fd9efeb6df0262008ccbf784088e7e746d24c884fbe71d625056081618b13654', 1794744000000000, 'local'),
(2, 'two', 'local', 1, '{"edges":[{"source":"start","target":"note"},{"source":"note","target":"again"}],"nodes":[{"data":{"kind":"manual"},"id":"start","type":"trigger"},{"data":{"action":"note","retry":{"retries":0}},"id":"note","type":"action"},{"data":{"action":"note","retry":{"retries":0}},"id":"again","type":"action"}],"workflow_id":"two"}', 'efb49c26c6d311ade3ee10e55e90047e90c17c83ac4d93ff2b7dbc9fea0a09d2', 1794744000000000, 'local');
INSERT INTO accounts ("ref", "user_ref", "is_default", "balance", "is_limited", "created_at") VALUES
(1, 1, 1, 0, 0, 1794744000000000),
(2, 2, 1, 900000, 1, 1794744000000000);
INSERT INTO api_keys ("ref", "id", "user_ref", "name", "digest", "rights", "expires_at", "revoked_at", "used_at", "created_at") VALUES
(1, '000000000000', 1, 'admin', 'dbb6b6c3e0ba88db93f7ec167a8a1033ea15cd77432e5a8995975c1e03c0a282', '["admin", "decide", "read", "write"]', NULL, NULL, 1794748200000000, 1794744000000000);
INSERT INTO node_states ("ref", "run", "workflow_ref", "user_id", "node", "path", "status", "attempt", "input", "output", "vars", "reason", "error", "usages", "idempotency_key", "started_at", "ended_at") VALUES
(1, 'dag-flow-tick-3ee74576f46b:2026-11-15T12:50:00Z~1', 1, 'local', 'tick', '', 'DONE', 1, NULL, '{"node":"tick","run_id":"dag-flow-tick-3ee74576f46b:2026-11-15T12:50:00Z~1","schedule_id":"dag-flow-tick-3ee74576f46b","scheduled_for":"2026-11-15T12:50:00Z","triggered_at":"2026-11-15T12:50:00Z"}', NULL, NULL, NULL, NULL, NULL, 1794747000000000, 1794747000000000),
(2, 'dag-flow-tick-3ee74576f46b:2026-11-15T12:50:00Z~1', 1, 'local', 'note', '', 'DONE', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'dag-flow-tick-3ee74576f46b:2026-11-15T12:50:00Z/note/e4a6a0577479b2b4', 1794747000000000, 1794747000000000),
(3, 'dag-flow-tick-3ee74576f46b:2026-11-15T13:00:00Z~1', 1, 'local', 'tick', '', 'DONE', 1, NULL, '{"node":"tick","run_id":"dag-flow-tick-3ee74576f46b:2026-11-15T13:00:00Z~1","schedule_id":"dag-flow-tick-3ee74576f46b","scheduled_for":"2026-11-15T13:00:00Z","triggered_at":"2026-11-15T13:00:00Z"}', NULL, NULL, NULL, NULL, NULL, 1794747600000000, 1794747600000000),
(4, 'dag-flow-tick-3ee74576f46b:2026-11-15T13:00:00Z~1', 1, 'local', 'note', '', 'DONE', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'dag-flow-tick-3ee74576f46b:2026-11-15T13:00:00Z/note/e4a6a0577479b2b4', 1794747600000000, 1794747600000000),
(5, 'dag-flow-tick-3ee74576f46b:2026-11-15T13:50:00Z~1', 1, 'local', 'tick', '', 'DONE', 1, NULL, '{"node":"tick","run_id":"dag-flow-tick-3ee74576f46b:2026-11-15T13:50:00Z~1","schedule_id":"dag-flow-tick-3ee74576f46b","scheduled_for":"2026-11-15T13:50:00Z","triggered_at":"2026-11-15T13:50:00Z"}', NULL, NULL, NULL, NULL, NULL, 1794750600000000, 1794750600000000),
(6, 'dag-flow-tick-3ee74576f46b:2026-11-15T13:50:00Z~1', 1, 'local', 'note', '', 'DONE', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'dag-flow-tick-3ee74576f46b:2026-11-15T13:50:00Z/note/e4a6a0577479b2b4', 1794750600000000, 1794750600000000),
(7, 'dag-flow-tick-3ee74576f46b:2026-11-15T14:00:00Z~1', 1, 'local', 'tick', '', 'DONE', 1, NULL, '{"node":"tick","run_id":"dag-flow-tick-3ee74576f46b:2026-11-15T14:00:00Z~1","schedule_id":"dag-flow-tick-3ee74576f46b","scheduled_for":"2026-11-15T14:00:00Z","triggered_at":"2026-11-15T14:00:00Z"}', NULL, NULL, NULL, NULL, NULL, 1794751200000000, 1794751200000000),
(8, 'dag-flow-tick-3ee74576f46b:2026-11-15T14:00:00Z~1', 1, 'local', 'note', '', 'DONE', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'dag-flow-tick-3ee74576f46b:2026-11-15T14:00:00Z/note/e4a6a0577479b2b4', 1794751200000000, 1794751200000000),
(9, 'dag-flow-tick-3ee74576f46b:2026-11-15T16:00:00Z~1', 1, 'local', 'tick', '', 'DONE', 1, NULL, '{"node":"tick","run_id":"dag-flow-tick-3ee74576f46b:2026-11-15T16:00:00Z~1","schedule_id":"dag-flow-tick-3ee74576f46b","scheduled_for":"2026-11-15T16:00:00Z","triggered_at":"2026-11-15T16:01:00Z"}', NULL, NULL, NULL, NULL, NULL, 1794758460000000, 1794758460000000),
(10, 'dag-flow-tick-3ee74576f46b:2026-11-15T16:00:00Z~1', 1, 'local', 'note', '', 'DONE', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'dag-flow-tick-3ee74576f46b:2026-11-15T16:00:00Z/note/e4a6a0577479b2b4', 1794758460000000, 1794758460000000),
(11, 'dag-flow-tick-3ee74576f46b:2026-11-15T16:50:00Z~1', 1, 'local', 'tick', '', 'DONE', 1, NULL, '{"node":"tick","run_id":"dag-flow-tick-3ee74576f46b:2026-11-15T16:50:00Z~1","schedule_id":"dag-flow-tick-3ee74576f46b","scheduled_for":"2026-11-15T16:50:00Z","triggered_at":"2026-11-15T16:50:00Z"}', NULL, NULL, NULL, NULL, NULL, 1794761400000000, 1794761400000000),
(12, 'dag-flow-tick-3ee74576f46b:2026-11-15T16:50:00Z~1', 1, 'local', 'note', '', 'DONE', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'dag-flow-tick-3ee74576f46b:2026-11-15T16:50:00Z/note/e4a6a0577479b2b4', 1794761400000000, 1794761400000000),
(13, 'dag-flow-tick-3ee74576f46b:2026-11-15T17:00:00Z~1', 1, 'local', 'tick', '', 'DONE', 1, NULL, '{"node":"tick","run_id":"dag-flow-tick-3ee74576f46b:2026-11-15T17:00:00Z~1","schedule_id":"dag-flow-tick-3ee74576f46b","scheduled_for":"2026-11-15T17:00:00Z","triggered_at":"2026-11-15T17:00:00Z"}', NULL, NULL, NULL, NULL, NULL, 1794762000000000, 1794762000000000),
(14, 'dag-flow-tick-3ee74576f46b:2026-11-15T17:00:00Z~1', 1, 'local', 'note', '', 'DONE', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'dag-flow-tick-3ee74576f46b:2026-11-15T17:00:00Z/note/e4a6a0577479b2b4', 1794762000000000, 1794762000000000),
(15, 'dag-flow-tick-3ee74576f46b:2026-11-15T17:50:00Z~1', 1, 'local', 'tick', '', 'DONE', 1, NULL, '{"node":"tick","run_id":"dag-flow-tick-3ee74576f46b:2026-11-15T17:50:00Z~1","schedule_id":"dag-flow-tick-3ee74576f46b","scheduled_for":"2026-11-15T17:50:00Z","triggered_at":"2026-11-15T17:50:00Z"}', NULL, NULL, NULL, NULL, NULL, 1794765000000000, 1794765000000000),
(16, 'dag-flow-tick-3ee74576f46b:2026-11-15T17:50:00Z~1', 1, 'local', 'note', '', 'DONE', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'dag-flow-tick-3ee74576f46b:2026-11-15T17:50:00Z/note/e4a6a0577479b2b4', 1794765000000000, 1794765000000000),
(17, 'dag-flow-tick-3ee74576f46b:2026-11-15T18:00:00Z~1', 1, 'local', 'tick', '', 'DONE', 1, NULL, '{"node":"tick","run_id":"dag-flow-tick-3ee74576f46b:2026-11-15T18:00:00Z~1","schedule_id":"dag-flow-tick-3ee74576f46b","scheduled_for":"2026-11-15T18:00:00Z","triggered_at":"2026-11-15T18:00:00Z"}', NULL, NULL, NULL, NULL, NULL, 1794765600000000, 1794765600000000),
(18, 'dag-flow-tick-3ee74576f46b:2026-11-15T18:00:00Z~1', 1, 'local', 'note', '', 'DONE', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'dag-flow-tick-3ee74576f46b:2026-11-15T18:00:00Z/note/e4a6a0577479b2b4', 1794765600000000, 1794765600000000);
INSERT INTO schedules ("ref", "id", "name", "app", "target", "spec", "policies", "input", "labels", "memo", "version", "created_at", "updated_at", "spec_since", "deleted_at", "pause_note", "paused_by", "pruned_before", "grant_ref", "owner", "declared") VALUES
(1, 'nightly', 'nightly', 'shop', 6, '{"at":[],"calendars":[{"day_of_month":[{"end":31,"start":1,"step":1}],"day_of_week":[{"end":6,"start":0,"step":1}],"fold":"first","gap":"shift","hour":[{"end":2,"start":2,"step":1}],"minute":[{"end":30,"start":30,"step":1}],"month":[{"end":12,"start":1,"step":1}],"second":[{"end":0,"start":0,"step":1}],"year":[{"end":2199,"start":1970,"step":1}]}],"end_at":null,"exclude":[],"intervals":[],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"Europe/Berlin"}', '{"catchup":"last"}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(2, 'cron', 'cron', NULL, 6, '{"at":[],"calendars":[{"day_of_month":[{"end":31,"start":1,"step":1}],"day_of_week":[{"end":5,"start":1,"step":1}],"fold":"first","gap":"shift","hour":[{"end":9,"start":9,"step":1}],"minute":[{"end":0,"start":0,"step":1}],"month":[{"end":12,"start":1,"step":1}],"second":[{"end":0,"start":0,"step":1}],"year":[{"end":2199,"start":1970,"step":1}]},{"day_of_month":[{"end":31,"start":1,"step":1}],"day_of_week":[{"end":6,"start":0,"step":1}],"fold":"first","gap":"shift","hour":[{"end":13,"start":13,"step":1}],"minute":[{"end":15,"start":15,"step":1}],"month":[{"end":12,"start":1,"step":1}],"second":[{"end":0,"start":0,"step":1}],"year":[{"end":2199,"start":1970,"step":1}]}],"end_at":null,"exclude":[],"intervals":[],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"America/New_York"}', '{}', '{"n":1}', '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(3, 'interval', 'interval', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":1200,"offset":0}],"jitter_mode":"after","jitter_us":30000000,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{"team":"mail"}', '"why"', 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(4, 'calendar', 'calendar', NULL, 6, '{"at":[],"calendars":[{"day_of_month":[{"end":31,"start":1,"step":1}],"day_of_week":[{"end":6,"start":0,"step":1}],"fold":"first","gap":"shift","hour":[{"end":17,"start":12,"step":1}],"minute":[{"end":5,"start":5,"step":1}],"month":[{"end":12,"start":1,"step":1}],"second":[{"end":0,"start":0,"step":1}],"year":[{"end":2199,"start":1970,"step":1}]}],"end_at":null,"exclude":[{"day_of_month":[{"end":31,"start":1,"step":1}],"day_of_week":[{"end":6,"start":0,"step":1}],"hour":[{"end":14,"start":14,"step":1}],"minute":[{"end":59,"start":0,"step":1}],"month":[{"end":12,"start":1,"step":1}],"second":[{"end":59,"start":0,"step":1}],"year":[{"end":2199,"start":1970,"step":1}]}],"intervals":[],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(5, 'once', 'once', NULL, 6, '{"at":["2026-11-15T13:30:00Z"],"calendars":[],"end_at":null,"exclude":[],"intervals":[],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(6, 'later', 'later', NULL, 6, '{"at":["2026-11-15T19:30:00Z"],"calendars":[],"end_at":null,"exclude":[],"intervals":[],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(7, 'manual', 'manual', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[],"jitter_mode":"after","jitter_us":0,"manual":true,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(8, 'paused', 'paused', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":900,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{"catchup":"all"}', NULL, '{}', NULL, 2, 1794744000000000, 1794748200000000, 1794744000000000, NULL, 'the printer burns', 'user', 0, 1, 'local', NULL),
(9, 'paused-until', 'paused-until', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":1800,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 2, 1794744000000000, 1794748200000000, 1794744000000000, NULL, NULL, 'user', 0, 1, 'local', NULL),
(10, 'skipping', 'skipping', NULL, 4, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":1800,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(11, 'holding', 'holding', NULL, 4, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":3600,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{"overlap":"buffer_all"}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(12, 'newest', 'newest', NULL, 4, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":3600,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{"overlap":"buffer_one"}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(13, 'retried', 'retried', NULL, 3, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":7200,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{"retry":{"attempts":9,"backoff":1200000000,"factor":2,"longest":600000000,"reasons":["internal","lost","provider_unavailable","rate_limit","timeout"]}}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(14, 'asking', 'asking', NULL, 2, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":10800,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(15, 'few', 'few', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":1800,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{"limit":2}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(16, 'edited', 'edited', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":2400,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 2, 1794744000000000, 1794748200000000, 1794748200000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(17, 'gone', 'gone', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":1800,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 2, 1794744000000000, 1794748200000000, 1794744000000000, 1794748200000000, NULL, NULL, 0, 1, 'local', NULL),
(18, 'spoilt', 'spoilt', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":3600,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 3, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(19, 'filled', 'filled', NULL, 4, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":3600,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":"2026-11-15T00:00:00Z","timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(20, 'declared', 'declared', 'mail', 6, '{"at":[],"calendars":[{"day_of_month":[{"end":31,"start":1,"step":1}],"day_of_week":[{"end":6,"start":0,"step":1}],"fold":"first","gap":"shift","hour":[{"end":15,"start":15,"step":1}],"minute":[{"end":0,"start":0,"step":1}],"month":[{"end":12,"start":1,"step":1}],"second":[{"end":0,"start":0,"step":1}],"year":[{"end":2199,"start":1970,"step":1}]}],"end_at":null,"exclude":[],"intervals":[],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', '{"target":"python:quick","cron":"0 15 * * *"}'),
(21, 'paid', 'paid', NULL, 5, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":3600,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 2, 'ann', NULL),
(22, 'revoked', 'revoked', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":3600,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 3, 'ann', NULL),
(23, 'thrifty', 'thrifty', NULL, 5, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":3600,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{"budget":{"credits":50000,"per":"30d","when_spent":"skip"}}', NULL, '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 2, 'ann', NULL),
(24, 'dag-flow-tick-3ee74576f46b', 'dag-flow-tick-3ee74576f46b', 'dag:flow:local', 7, '{"at":[],"calendars":[{"day_of_month":[{"end":31,"start":1,"step":1}],"day_of_week":[{"end":6,"start":0,"step":1}],"fold":"both","gap":"skip","hour":[{"end":23,"start":0,"step":1}],"minute":[{"end":0,"start":0,"step":1},{"end":50,"start":50,"step":1}],"month":[{"end":12,"start":1,"step":1}],"second":[{"end":0,"start":0,"step":1}],"year":[{"end":2199,"start":1970,"step":1}]}],"end_at":null,"exclude":[],"intervals":[],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', '{"trigger":"tick","version":1}', '{}', NULL, 1, 1794744000000000, 1794744000000000, 1794744000000000, NULL, NULL, NULL, 0, 1, 'local', NULL),
(25, 'asked-for', 'asked-for', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":2700,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 1, 1794748200000000, 1794748200000000, 1794748200000000, NULL, NULL, NULL, 0, 4, 'local', NULL),
(26, 'often', 'often', NULL, 6, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":3600,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', '{}', NULL, '{}', NULL, 2, 1794751320000000, 1794758460000000, 1794758460000000, NULL, NULL, NULL, 0, 1, 'local', NULL);
INSERT INTO backfills ("ref", "schedule_ref", "target", "first", "last", "which", "direction", "concurrency", "running", "started", "done_to", "wake_at", "input", "created_at", "ended_at", "cancelled_at") VALUES
(1, 19, 4, 1794708000, 1794736800, 'missing', 'oldest_first', 2, 2, 2, 1794711600, NULL, NULL, 1794758465000000, NULL, NULL);
INSERT INTO cursors ("ref", "version", "target", "swept_to", "wake_at", "pause_from", "pause_to", "running", "held", "remaining", "marks", "last_result", "last_failure", "refusals") VALUES
(1, 1, 6, 1794744000000000, 1794792600000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(2, 1, 6, 1794744000000000, 1794766500000000, NULL, NULL, 0, 0, NULL, 1, NULL, NULL, 0),
(3, 1, 6, 1794764400000000, 1794765612544238, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(4, 1, 6, 1794762300000000, 1794830700000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(5, 1, 6, 1794749400000000, NULL, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(6, 1, 6, 1794744000000000, 1794771000000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(7, 1, 6, 1794744000000000, NULL, NULL, NULL, 0, 0, NULL, 0, 30, NULL, 0),
(8, 2, 6, 1794747600000000, NULL, 1794748200000000, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(9, 2, 6, 1794747600000000, 1794772800000000, 1794748200000000, 1794772800000000, 0, 0, NULL, 0, NULL, NULL, 0),
(10, 1, 4, 1794765600000000, 1794767400000000, NULL, NULL, 1, 0, NULL, 0, NULL, NULL, 0),
(11, 1, 4, 1794765600000000, 1794769200000000, NULL, NULL, 1, 4, NULL, 0, NULL, NULL, 0),
(12, 1, 4, 1794765600000000, 1794769200000000, NULL, NULL, 1, 1, NULL, 0, NULL, NULL, 0),
(13, 1, 3, 1794765600000000, 1794772800000000, NULL, NULL, 1, 0, NULL, 0, NULL, 138, 0),
(14, 1, 2, 1794765600000000, 1794776400000000, NULL, NULL, 1, 0, NULL, 0, NULL, NULL, 0),
(15, 1, 6, 1794747600000000, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0),
(16, 2, 6, 1794765600000000, 1794768000000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(17, 2, 6, 1794747600000000, NULL, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(18, 3, 6, 1794765600000000, 1794769200000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(19, 1, 4, 1794765600000000, 1794769200000000, NULL, NULL, 1, 0, NULL, 0, NULL, NULL, 0),
(20, 1, 6, 1794754800000000, 1794841200000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(21, 1, 5, 1794765600000000, 1794769200000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 2),
(22, 1, 6, 1794765600000000, 1794769200000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 4),
(23, 1, 5, 1794765600000000, 1794769200000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 3),
(24, 1, 7, 1794765600000000, 1794768600000000, NULL, NULL, 0, 0, NULL, 0, 158, NULL, 0),
(25, 1, 6, 1794765600000000, 1794768300000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0),
(26, 2, 6, 1794765600000000, 1794769200000000, NULL, NULL, 0, 0, NULL, 0, NULL, NULL, 0);
INSERT INTO gaps ("ref", "schedule_ref", "first_at", "last_at", "size", "reason", "recorded_at") VALUES
(1, 26, 1794751340000000, 1794758380000000, 353, 'missed', 1794758460000000);
INSERT INTO grants ("ref", "user_ref", "account_ref", "scopes", "expires_at", "revoked_at", "budget", "is_shared", "created_at") VALUES
(1, 1, 1, '["graph:execute:*"]', NULL, NULL, NULL, 1, 1794744000000000),
(2, 2, 2, '["graph:execute:dag:*","graph:execute:python:*"]', NULL, NULL, '{"credits":90000,"per":"day","when_spent":"skip"}', 1, 1794744000000000),
(3, 2, 2, '["graph:execute:dag:*","graph:execute:python:*"]', 1798761600000000, 1794748200000000, NULL, 1, 1794744000000000),
(4, 1, 1, '["graph:execute:python:quick"]', NULL, NULL, NULL, 0, 1794748200000000),
(5, 2, 2, '["graph:execute:dag:*","graph:execute:python:*"]', NULL, NULL, '{"credits":500000,"per":"day","when_spent":"skip"}', 1, 1794765575000000);
INSERT INTO notices ("ref", "event", "schedule_ref", "run_ref", "at", "data", "addressed_at") VALUES
(1, 'budget.reached', 23, NULL, 1794747600000000, '{"reason":"over_budget","count":1,"first_at":"2026-11-15T13:00:00Z","last_at":"2026-11-15T13:00:00Z"}', 1794747600000000),
(2, 'run.missed', 14, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:00:00Z","last_at":"2026-11-15T15:00:00Z"}', 1794758460000000),
(3, 'run.missed', 10, NULL, 1794758460000000, '{"count":3,"first_at":"2026-11-15T14:30:00Z","last_at":"2026-11-15T15:30:00Z"}', 1794758460000000),
(4, 'run.missed', 11, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:00:00Z","last_at":"2026-11-15T15:00:00Z"}', 1794758460000000),
(5, 'run.missed', 12, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:00:00Z","last_at":"2026-11-15T15:00:00Z"}', 1794758460000000),
(6, 'run.missed', 19, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:00:00Z","last_at":"2026-11-15T15:00:00Z"}', 1794758460000000),
(7, 'run.missed', 21, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:00:00Z","last_at":"2026-11-15T15:00:00Z"}', 1794758460000000),
(8, 'run.missed', 23, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:00:00Z","last_at":"2026-11-15T15:00:00Z"}', 1794758460000000),
(9, 'budget.reached', 23, NULL, 1794758460000000, '{"reason":"over_budget","count":1,"first_at":"2026-11-15T16:00:00Z","last_at":"2026-11-15T16:00:00Z"}', 1794758460000000),
(10, 'run.missed', 26, NULL, 1794758460000000, '{"count":353,"first_at":"2026-11-15T14:02:20Z","last_at":"2026-11-15T15:59:40Z"}', 1794758460000000),
(11, 'run.missed', 25, NULL, 1794758460000000, '{"count":3,"first_at":"2026-11-15T14:15:00Z","last_at":"2026-11-15T15:45:00Z"}', 1794758460000000),
(12, 'run.missed', 3, NULL, 1794758460000000, '{"count":5,"first_at":"2026-11-15T14:20:00Z","last_at":"2026-11-15T15:40:00Z"}', 1794758460000000),
(13, 'run.missed', 16, NULL, 1794758460000000, '{"count":2,"first_at":"2026-11-15T14:40:00Z","last_at":"2026-11-15T15:20:00Z"}', 1794758460000000),
(14, 'run.missed', 18, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:00:00Z","last_at":"2026-11-15T15:00:00Z"}', 1794758460000000),
(15, 'run.missed', 20, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:00:00Z","last_at":"2026-11-15T15:00:00Z"}', 1794758460000000),
(16, 'run.missed', 22, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:00:00Z","last_at":"2026-11-15T15:00:00Z"}', 1794758460000000),
(17, 'run.missed', 4, NULL, 1794758460000000, '{"count":1,"first_at":"2026-11-15T15:05:00Z","last_at":"2026-11-15T15:05:00Z"}', 1794758460000000),
(18, 'run.missed', 24, NULL, 1794758460000000, '{"count":3,"first_at":"2026-11-15T14:50:00Z","last_at":"2026-11-15T15:50:00Z"}', 1794758460000000),
(19, 'budget.reached', 21, NULL, 1794762000000000, '{"reason":"over_budget","count":1,"first_at":"2026-11-15T17:00:00Z","last_at":"2026-11-15T17:00:00Z"}', 1794762000000000),
(20, 'run.failed', 13, 138, 1794762963592054, '{"run":"retried:2026-11-15T14:00:00Z~9","kind":"slot","scheduled_for":"2026-11-15T14:00:00Z","attempt":9,"reason":"internal","error":"RuntimeError: the printer burns"}', 1794762963592054),
(21, 'run.waiting', 14, 145, 1794765600000000, '{"run":"asking:2026-11-15T18:00:00Z~1","kind":"slot","scheduled_for":"2026-11-15T18:00:00Z","attempt":1,"question":"approve","who":[],"expires_at":"2026-11-22T18:00:00Z"}', 1794765600000000);
INSERT INTO past_specs ("ref", "schedule_ref", "spec", "since", "until", "ended_by") VALUES
(1, 16, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":1800,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', 1794744000000000, 1794748200000000, 'edit'),
(2, 26, '{"at":[],"calendars":[],"end_at":null,"exclude":[],"intervals":[{"every":20,"offset":0}],"jitter_mode":"after","jitter_us":0,"manual":false,"start_at":null,"timezone":"UTC"}', 1794751320000000, 1794758460000000, 'edit');
INSERT INTO postings ("ref", "account_ref", "kind", "amount", "balance_after", "reference", "created_at") VALUES
(1, 2, 'top_up', 1000000, 1000000, 'invoice-1', 1794744000000000),
(2, 2, 'charge', -20000, 980000, 'foliot paid:2026-11-15T13:00:00Z/1/call', 1794747600000000),
(3, 2, 'charge', -20000, 960000, 'foliot paid:2026-11-15T14:00:00Z/1/call', 1794751200000000),
(4, 2, 'charge', -20000, 940000, 'foliot thrifty:2026-11-15T14:00:00Z/1/call', 1794751200000000),
(5, 2, 'charge', -20000, 920000, 'foliot paid:2026-11-15T16:00:00Z/1/call', 1794758460000000),
(6, 2, 'charge', -20000, 900000, 'foliot @order-3/1/call', 1794765575000000);
INSERT INTO receipts ("ref", "account_ref", "source", "reference", "run_ref", "unit", "model", "tokens", "cost", "credits", "created_at") VALUES
(1, 2, 'foliot', 'paid:2026-11-15T13:00:00Z/1/call', 13, 'call', NULL, NULL, '0.001', 20000, 1794747600000000),
(2, 2, 'foliot', 'paid:2026-11-15T14:00:00Z/1/call', 61, 'call', NULL, NULL, '0.001', 20000, 1794751200000000),
(3, 2, 'foliot', 'thrifty:2026-11-15T14:00:00Z/1/call', 62, 'call', NULL, NULL, '0.001', 20000, 1794751200000000),
(4, 2, 'foliot', 'paid:2026-11-15T16:00:00Z/1/call', 82, 'call', NULL, NULL, '0.001', 20000, 1794758460000000),
(5, 2, 'foliot', '@order-3/1/call', -3, 'call', NULL, NULL, '0.001', 20000, 1794765575000000),
(6, 2, 'foliot', 'paid:2026-11-15T13:00:00Z/1/unpriced', 13, 'unpriced', NULL, NULL, NULL, NULL, 1794765585000000);
INSERT INTO troubles ("schedule_ref", "times", "error", "since", "until") VALUES
(18, 2, 'JSONDecodeError: Expecting value: line 1 column 1 (char 0)', 1794751200000000, 1794751260000000);
INSERT INTO deliveries ("ref", "notice_ref", "webhook_ref", "tries", "next_at", "arrived_at", "error") VALUES
(1, 2, 1, 7, 1794770190883379, NULL, 'it answered 500'),
(2, 3, 1, 7, 1794770169395398, NULL, 'it answered 500'),
(3, 4, 1, 7, 1794769755701274, NULL, 'it answered 500'),
(4, 5, 1, 7, 1794770010918648, NULL, 'it answered 500'),
(5, 6, 1, 7, 1794770096644218, NULL, 'it answered 500'),
(6, 10, 1, 7, 1794769891743980, NULL, 'it answered 500'),
(7, 11, 1, 7, 1794769712968211, NULL, 'it answered 500'),
(8, 12, 1, 7, 1794770073103551, NULL, 'it answered 500'),
(9, 13, 1, 7, 1794770116926873, NULL, 'it answered 500'),
(10, 14, 1, 7, 1794770153704717, NULL, 'it answered 500'),
(11, 15, 1, 7, 1794769686367204, NULL, 'it answered 500'),
(12, 17, 1, 7, 1794770318127929, NULL, 'it answered 500'),
(13, 18, 1, 7, 1794770198425332, NULL, 'it answered 500'),
(14, 20, 1, 6, 1794766837857575, NULL, 'it answered 500'),
(15, 21, 1, 1, 1794765610518071, NULL, 'it answered 500');
