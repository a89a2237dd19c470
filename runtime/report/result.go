package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"hyperscale/core/message"
)

// Schema names the shape of the file; it changes only if a field's meaning does.
const Schema = "hyperscale.result/v1"

// Result is the whole file.
type Result struct {
	Schema      string                `json:"schema"`             // always hyperscale.result/v1
	Job         string                `json:"job"`                // the id that submit printed
	Name        string                `json:"name"`               // the main file's name; of `run URL` the URL, without its user and query
	Outcome     string                `json:"outcome"`            // COMPLETED, PARTIAL, FAILED, CANCELLED or TIMED_OUT
	Error       string                `json:"error,omitempty"`    // why it did not complete
	StartedAt   string                `json:"started_at"`         // RFC 3339, by the clock of the client that submitted the job; empty in an answer of the HTTP API: gates have no common clock
	DurationNS  int64                 `json:"duration_ns"`        // from acceptance to the end
	Totals      Totals                `json:"totals"`             // of all workflows' measured steps
	Requested   Totals                `json:"requested"`          // of all requests of the load, each once
	Generator   Generator             `json:"generator"`          // how well the load was generated, at the worst
	Datacenters map[string]Datacenter `json:"datacenters"`        // by name
	Workflows   []Workflow            `json:"workflows"`          // in the file's order, merged over the datacenters
	Thresholds  []Threshold           `json:"thresholds"`         // in the file's order
	Turns       []string              `json:"turns,omitempty"`    // in which order the workflows begin, as `validate` draws it; left out if all begin at once
	Missing     []string              `json:"missing,omitempty"`  // datacenters that best effort left out: their figures count nowhere, so the others are a part of the load
	Restored    string                `json:"restored,omitempty"` // from which backup the gates knew the job, which had not ended then: what it did since is in no figure
	Outputs     []Output              `json:"outputs,omitempty"`  // the outputs that took rows, as far as they were at the end of the run
	Sinks       []Sink                `json:"sinks,omitempty"`    // of the gates' configuration: how far each was when the result was fetched; the gates go on
	Run         *Run                  `json:"run,omitempty"`      // the program, its arguments and the machine; unknown for a job that was only watched
}

// Run holds what a reader needs to run the same test again. It leaves out values of parameters
// that the file marks as secret, values of parameters and headers whose name suggests one, the
// users of addresses, and what was written in queries.
type Run struct {
	Command []string `json:"command"` // the program's arguments
	Version string   `json:"version"` // of hyperscale
	Go      string   `json:"go"`      // Go version of its build
	System  string   `json:"system"`  // operating system and architecture
	CPU     string   `json:"cpu"`     // the processor's name, as the system gives it
	CPUs    int      `json:"cpus"`    // how many it has, threads counted

	Seed  uint64       `json:"seed"`  // of every random number
	Rate  bool         `json:"rate"`  // the file or a flag asks for a rate
	Files []SourceFile `json:"files"` // of the workflow, the main file first

	Given []string `json:"-"` // name=value of each parameter that a flag, a file or a variable gives; nil: only Command says

	Loads []Load `json:"loads,omitempty"` // what the file and the flags ask of each workflow, in the file's order
}

// Load is what was asked of a workflow, whatever came of it.
type Load struct {
	Workflow string `json:"workflow"` // its name
	Text     string `json:"text"`     // its load: equal texts are equal loads
}

// Runner is the word for what a workflow's cores count.
func (r *Result) Runner() string {
	if r.Generator.SharedCores > 0 {
		return "executor"
	}
	return "core"
}

// Output is a place that took rows. offered = delivered + behind + rejected + lost + merged.
type Output struct {
	Name         string `json:"name"`             // of the kind; kind-2 for a second one
	Kind         string `json:"kind"`             // as in --out
	Offered      uint64 `json:"offered"`          // rows
	Delivered    uint64 `json:"delivered"`        // rows that the place has
	Behind       uint64 `json:"behind"`           // rows that it did not have when the command stopped waiting
	Rejected     uint64 `json:"rejected"`         // rows that it never takes
	Lost         uint64 `json:"lost"`             // rows that had no room, or whose output had failed
	LostRequests uint64 `json:"lost_requests"`    // requests in lost windows of the whole job
	Merged       uint64 `json:"merged"`           // windows that became part of a wider one, for want of room
	PerhapsTwice uint64 `json:"perhaps_twice"`    // rows sent again after a try without an answer, to a place that adds up
	Failed       string `json:"failed,omitempty"` // why the output was given up
	Error        string `json:"error,omitempty"`  // the last failure, of an output that lacks rows
}

// Sink is how far a sink of the gates' configuration is, which gets a job's rows from the gate that owns the job.
type Sink struct {
	Name             string `json:"name"`              // in the configuration
	Kind             string `json:"kind,omitempty"`    // in the configuration of the gate that owned the job last
	Delivered        uint64 `json:"delivered"`         // rows that it has
	ThroughNS        int64  `json:"through_ns"`        // of the job's time: it has all rows before that; 0: none, or it is not known
	Behind           uint64 `json:"behind"`            // windows that have passed, and that it does not have yet
	BehindNS         int64  `json:"behind_ns"`         // for how long the oldest of those has been over
	Rejected         uint64 `json:"rejected"`          // rows that it never takes
	RejectedRequests uint64 `json:"rejected_requests"` // requests in rejected windows of the whole job
	Lost             uint64 `json:"lost"`              // rows that never get there: the gates gave up
	LostRequests     uint64 `json:"lost_requests"`     // requests in lost windows of the whole job
	PerhapsTwice     uint64 `json:"perhaps_twice"`     // rows that it perhaps has twice, of a sink that adds up
	Done             bool   `json:"done"`              // the job has ended, and nothing follows
	Failed           string `json:"failed,omitempty"`  // why the gates gave it up
	Error            string `json:"error,omitempty"`   // the last failure of a try

	Late []Late `json:"late,omitempty"` // the newest 16 times at which the command saw it behind; a result without them knows of none
}

// Late is a time in which a sink of the cluster was behind. Times are of the job.
type Late struct {
	FromNS  int64 `json:"from_ns"`  // rows of the load from here on came late
	UntilNS int64 `json:"until_ns"` // when a status last said that the sink was behind
}

// Text is what the place has of the rows, in a line.
func (o *Output) Text() string {
	s := fmt.Sprintf("%d of %d rows delivered", o.Delivered, o.Offered)
	for _, part := range []struct {
		rows uint64
		what string
	}{{o.Behind, "not delivered in time"}, {o.Rejected, "rejected"}, {o.Lost, fmt.Sprintf("lost (%d requests)", o.LostRequests)}, {o.Merged, "merged into wider windows"}, {o.PerhapsTwice, "perhaps twice"}} {
		if part.rows > 0 {
			s += fmt.Sprintf(", %d %s", part.rows, part.what)
		}
	}
	if o.Error != "" {
		s += ": " + o.Error
	}
	return s
}

// SourceFile is one file of a workflow. Its text may have secrets as default values: a result
// has it if the run was given --with-source.
type SourceFile struct {
	Name   string `json:"name"`           // below the main file's folder
	SHA256 string `json:"sha256"`         // of what was in it
	Text   string `json:"text,omitempty"` // what was in it, or its first 64 KiB
	Cut    bool   `json:"cut,omitempty"`  // there was more
}

// ProgramDigest names the files of a program by what was in them.
func (r *Run) ProgramDigest() string {
	h := sha256.New()
	for _, f := range r.Files {
		_, _ = h.Write([]byte(f.Name + "\x00" + f.SHA256 + "\n")) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Totals count measured steps. started = ok + failed + timed_out + cancelled; a
// dropped start and a step skipped because of one before it never started.
//
// A server can count what sent counts. For request steps without redirects, started
// minus sent never left: there was no connection in time, no room, or the run was
// interrupted. Functions may send any number: requests lists them by name, and
// requested counts each of them once. Redirects that are followed are sent, too. Of an
// executor that died it is the last known figure, and so too small.
type Totals struct {
	Started    uint64 `json:"started"`    // requests begun
	Sent       uint64 `json:"sent"`       // requests that left whole: the kernel took their last byte; over HTTP/3, the library of QUIC
	OK         uint64 `json:"ok"`         // answered whole, in time, and as expected
	Failed     uint64 `json:"failed"`     // answered otherwise, or not at all
	TimedOut   uint64 `json:"timed_out"`  // not answered within the workflow's timeout
	Cancelled  uint64 `json:"cancelled"`  // in flight when the run was interrupted
	Dropped    uint64 `json:"dropped"`    // never started: no virtual user was free
	Skipped    uint64 `json:"skipped"`    // never started: a step that it needs failed
	Retried    uint64 `json:"retried"`    // of started: sent again after a failure, which counts too
	Challenged uint64 `json:"challenged"` // answers of 401 that asked for a digest proof: in sent and statuses, not in started
	BytesIn    uint64 `json:"bytes_in"`   // received, heads included
	BytesOut   uint64 `json:"bytes_out"`  // sent, heads included
}

// Generator says whether the figures are the target's or the generator's own.
type Generator struct {
	LagNS       Distribution `json:"lag_ns"`        // by how much starts were late
	BusyMaxPPM  uint32       `json:"busy_max_ppm"`  // busiest second of an executor, in parts per million
	Begun       uint64       `json:"begun"`         // iterations that began
	Waited      uint64       `json:"waited"`        // of those, the ones that were due while no virtual user was free
	Dropped     uint64       `json:"dropped"`       // iterations that were due and never began, for the same reason
	NotOffered  uint64       `json:"not_offered"`   // iterations that were due while no attempt of their share is known to have run: a rate asks for begun, dropped and not_offered
	SharedCores uint32       `json:"shared_cores"`  // executors that shared a core with other workflows of the job: there were more workflows than cores
	Saturated   bool         `json:"saturated"`     // its own work filled its core: latencies include its own delays
	WaitMaxPPM  uint32       `json:"wait_max_ppm"`  // of a second, an executor ready to run while other programs had its core, in parts per million
	StealMaxPPM uint32       `json:"steal_max_ppm"` // of the machine's time that its host gave to other machines, in parts per million
	Starved     bool         `json:"starved"`       // other programs or machines took the core that it needed
	Late        bool         `json:"late"`          // at least 10 starts, and 1 % of them, were late by more than 5 ms
	Usage                    // what executors used of their machines
	Unanswered  []Unanswered `json:"unanswered,omitempty"`     // executors none of whose requests was answered, while others had answers: the first 16
	Silent      uint32       `json:"unanswered_sum,omitempty"` // the number of these
}

// Usage is what executors used of their machines, and what that cost the load.
type Usage struct {
	CPUNS       int64  `json:"cpu_ns,omitempty"`           // time of processors
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`     // most memory of the executor that came nearest to its budget
	MemoryMax   uint64 `json:"memory_max_bytes,omitempty"` // the budget of that executor
	Pressed     bool   `json:"memory_pressure,omitempty"`  // an executor used 70 % of its budget
	Throttles   uint32 `json:"throttles,omitempty"`        // how often executors were throttled, from 85 % of their budgets on: they began no new virtual user
	ThrottledNS int64  `json:"throttled_for_ns,omitempty"` // for how long, of the executor that was throttled for longest
	Held        uint64 `json:"held,omitempty"`             // virtual users that did not begin for that, and iterations of a rate that found none: the load was less than asked
}

// Unanswered is an executor that had no answer at all, though others of its workflow had: its share
// of the load did not get through.
type Unanswered struct {
	Workflow string `json:"workflow"` // whose load it sent
	Worker   string `json:"worker"`   // where it ran
	Core     uint32 `json:"core"`     // of that worker, from 0
	Requests uint64 `json:"requests"` // that ended, each without an answer
	Kind     string `json:"kind"`     // of most of these failures
	Example  string `json:"example"`  // of that kind, in words
}

// Throttled reports whether executors were throttled for their memory.
func (g *Usage) Throttled() bool { return g.Throttles > 0 }

// MemoryText tells people how near executors came to their budgets of memory, if they did.
func (g *Usage) MemoryText() string {
	const remedy = "Give the workflow more cores, fewer virtual users or smaller bodies, or let executors have more (run --executor-memory, workers --set exec.memory_max=..., memory = \"...\" of the workflow)."
	at := fmt.Sprintf("an executor used %d MiB, %d%% of its budget of memory", g.MemoryBytes>>20, 100*g.MemoryBytes/max(1, g.MemoryMax))
	switch {
	case g.Throttled():
		cost := "none was due"
		if g.Held > 0 {
			cost = fmt.Sprintf("%d begins were held back, so the load was less than asked", g.Held)
		}
		return fmt.Sprintf("throttled: %s. For %v, executors began no new virtual user; %s. %s", at, time.Duration(g.ThrottledNS).Round(time.Millisecond), cost, remedy)
	case g.Pressed:
		return fmt.Sprintf("memory: %s; it is throttled at 85%%. %s", at, remedy)
	}
	return ""
}

// unansweredTold bounds the executors that a text names.
const unansweredTold = 3

// UnansweredText tells people which executors had no answer.
func (g *Generator) UnansweredText() (all []string) {
	for i, u := range g.Unanswered {
		if i == unansweredTold {
			return append(all, fmt.Sprintf("unanswered: and %d more executors, which the result file names", int(g.Silent)-i))
		}
		all = append(all, fmt.Sprintf("unanswered: not one of the %d requests of the executor on core %d of %s was answered, though others were (%s): %s. Check that machine's way to the target.",
			u.Requests, u.Core, u.Worker, u.Kind, u.Example))
	}
	return all
}

// Datacenter is one datacenter's share of the job.
type Datacenter struct {
	Outcome    string `json:"outcome"`         // as of the whole
	Error      string `json:"error,omitempty"` // why it did not complete
	DurationNS int64  `json:"duration_ns"`     // of its share
	*Figures          // absent if no figure of it is known
}

// Figures are what a datacenter reported. One that missing names has none, nor has one that was
// lost before its first report: its load may have reached the target, so zeroes would be wrong.
type Figures struct {
	Totals    Totals     `json:"totals"`    // of its workflows
	Requested Totals     `json:"requested"` // of all requests of its load, each once
	Workflows []Workflow `json:"workflows"` // in the file's order
	Workers   []Worker   `json:"workers"`   // by name: 64 of them, those in trouble first, then the sum of the others
}

// In returns what a datacenter reported of its workflows, nothing if that is not known.
func (r *Result) In(datacenter string) []Workflow {
	if f := r.Datacenters[datacenter].Figures; f != nil {
		return f.Workflows
	}
	return nil
}

// Worker is one worker's share of a datacenter's subjob. The shares' counts add up to the
// datacenter's, what counts of lost attempts included. A result that was too large for a message
// has none.
type Worker struct {
	Name       string `json:"name"`             // its id; empty for the sum of those that are not named
	Others     uint32 `json:"others,omitempty"` // number of workers in that sum
	State      string `json:"state"`            // at the end DONE; LOST where all its attempts were given up
	CoresTotal uint32 `json:"cores_total"`      // cores that it has; 0 if unknown
	Cores      uint32 `json:"cores"`            // of those, the most that it used at a time
	VUs        uint64 `json:"vus"`              // virtual users that ran there, the most at a time
	DurationNS int64  `json:"duration_ns"`      // in which it sent load
	Lost       uint32 `json:"lost"`             // attempts that were given up there
	Totals            // of its share
	RateMilli  uint64 `json:"rate_milli"`   // requests that ended, a second, in thousandths
	LateP99NS  uint64 `json:"late_p99_ns"`  // 99 % of its starts were late by at most this; unknown for the sum of the others
	BusyMaxPPM uint32 `json:"busy_max_ppm"` // busiest second of an executor, in parts per million
	Saturated  bool   `json:"saturated"`    // its generator was the bottleneck
}

// Workflow is one workflow of the file.
type Workflow struct {
	Name       string    `json:"name"`            // as declared
	Outcome    string    `json:"outcome"`         // COMPLETED, FAILED, CANCELLED or TIMED_OUT
	Error      string    `json:"error,omitempty"` // why it did not complete
	VUs        uint64    `json:"vus"`             // virtual users
	Cores      uint32    `json:"cores"`           // executors that ran them; generator.shared_cores counts those that shared a core
	DurationNS int64     `json:"duration_ns"`     // of the load, from the first start to the last end
	Turn                 // when it ran, as fields of the workflow itself
	Totals     Totals    `json:"totals"`    // of its measured steps
	Generator  Generator `json:"generator"` // of its executors
	Steps      []Step    `json:"steps"`     // measured steps, in the file's order
	Named                // the requests of its functions, as fields of the workflow itself
	Series     []Series  `json:"series"`   // measured steps with a tag in common, merged; of the whole job only
	Checks     []Check   `json:"checks"`   // in the file's order
	Actions    []Check   `json:"actions"`  // steps that run and are not measured
	Metrics    []Metric  `json:"metrics"`  // in the file's order
	Lost       []Lost    `json:"lost"`     // attempts that were given up
	Logs       []string  `json:"logs"`     // what the system tells of the run, then what vu.log wrote: the first 20 lines of each
	Activity   Activity  `json:"activity"` // its users and iterations over time
	Feed                 // the rows of its feed, as fields of the workflow itself

	Tags map[string]string `json:"tags,omitempty"` // as declared
}

// Began reports that a workflow ran. One that never did may have waited for another one, for cores,
// or for its job's turn.
func (w *Workflow) Began() bool { return w.DurationNS > 0 || w.Totals.Started > 0 || w.Cores > 0 }

// NotBegun says of a workflow without figures whether it never began, as far as is known.
func (r *Result) NotBegun(w *Workflow) string {
	if r.Restored != "" {
		return "not known whether it began"
	}
	for i := range w.Lost {
		if w.Lost[i].UnreportedNS > 0 {
			return "not known whether it began"
		}
	}
	return "never began"
}

// Turn says when a workflow ran.
type Turn struct {
	GapNS   int64    `json:"gap_ns"`          // of its duration, without load as far as is known, because attempts were lost, or no datacenter ran it: rates leave it out
	BeganNS int64    `json:"began_ns"`        // of the job's time, when the load began; of the whole, in the first datacenter. Windows count from it
	Order   []string `json:"order,omitempty"` // in which its steps begin, as `validate` draws it; left out for a plain list, and in datacenters
}

// Feed says what became of a workflow's rows, and who waited for whom.
type Feed struct {
	Rows       uint64 `json:"rows"`        // rows of its feed that iterations took
	RowsBurned uint64 `json:"rows_burned"` // rows of a unique feed that lost attempts held, and no iteration gets

	Barriers []Barrier `json:"barriers,omitempty"` // at which its users waited for each other, by name
	Counters []Counter `json:"counters,omitempty"` // whose values its functions took, by name
}

// Counter counts the values of a counter that a workflow's functions took. Values that cores had
// leased and not used are in no figure, nor those that a lost attempt took after its last report.
type Counter struct {
	Name  string `json:"name"`  // as declared
	Taken uint64 `json:"taken"` // values
}

// Barrier counts the waits of a workflow's users at a barrier. Those of a lost attempt after its
// last report are not known.
type Barrier struct {
	Name     string `json:"name"`      // as declared
	Released uint64 `json:"released"`  // waits that ended as all users had come
	TimedOut uint64 `json:"timed_out"` // waits that ended as not all users came in time
	Ended    uint64 `json:"ended"`     // waits that ended with the run
}

// Named are the requests that functions sent, each under its name.
type Named struct {
	Requests  []Step `json:"requests"`  // of steps, by step and name: buy/login. Their step counts its calls
	Beside    []Step `json:"beside"`    // of setup, teardown and the like: no load, and in no total
	Requested Totals `json:"requested"` // of all requests of the load, each once
}

// Step is one measured step. The phases of a request follow each other and add up
// to its latency. blocked runs from the intended start: the request waits for a virtual
// user, the generator, a connection. dns, connect and tls follow, on a new connection
// alone. send ends when the kernel has taken the last byte, wait with the first byte of
// the answer, receive with its last.
type Step struct {
	Name      string                  `json:"name"` // as declared
	Kind      string                  `json:"kind"` // request or function; part or beside for what functions sent
	Totals                            // the counts, as fields of the step itself
	RateMilli uint64                  `json:"rate_milli"`                // requests that ended, a second, in thousandths
	Statuses  map[string]uint64       `json:"statuses"`                  // answers by status, those of followed redirects too, of the first 1,000 statuses and other
	Errors    []Error                 `json:"errors"`                    // failures by kind, most frequent first
	LatencyNS Distribution            `json:"latency_ns"`                // from the intended start to the last byte, connecting included
	ServiceNS Distribution            `json:"service_ns"`                // from the first byte written to the last byte
	Buckets   Buckets                 `json:"latency_buckets,omitempty"` // the histogram behind latency_ns; of the whole job only
	PhasesNS  map[string]Distribution `json:"phases_ns"`                 // by phase, those that happened: see below
	Course    Course                  `json:"course"`                    // the same counts over time
	Tags      map[string]string       `json:"tags,omitempty"`            // as declared
	Measures  map[string]Measure      `json:"measures,omitempty"`        // by name, what the step's protocol measures beside the latency
}

// Measure is what a protocol counts or times beside the latency of its requests. Server-sent
// events have first_event (from the intended start until the generator has read the first event),
// event_gap (from one event of a stream to its next) and events (whole ones: each with its blank line).
// WebSocket, gRPC streams, TCP, UDP and subscriptions of Redis have first_message (from the intended start until the generator has read the first message),
// message_latency (from when a step's messages were queued on the open connection to each one that came),
// messages_sent and messages_received (whole ones). UDP has datagrams_lost (answers that did not come in
// time), datagrams_late (that came behind that), datagrams_stray (that no exchange asked for),
// datagrams_refused (reports of an unreachable port) and datagrams_dropped (by the generator's kernel). HTTP/3 has packets_lost (of the generator's,
// that acknowledgements of later ones showed to be lost) and rtt (the smoothed round trip of each connection, when it closes). Redis has commands (that the kernel took whole),
// hits and misses (values that commands such as GET found, and those that were missing), redirects (of a cluster, that operations followed)
// and replica_commands (of commands, those for replicas). NATS has messages_sent and messages_received as well,
// reply_latency and ack_latency (from a message to its reply, and to the acknowledgement of JetStream), duplicates (messages that a stream had already),
// late_answers and server_errors (that no operation waited for), and of pull consumers pulls (requests for messages), acks, naks and terms
// (settlements that the kernel took) and redelivered (messages that came before). Kafka has messages_sent and ack_latency as well,
// records (that brokers acknowledged, or a consumer read), batches (that a consumer read, or brokers acknowledged), late_answers
// (records that a broker acknowledged behind their timeout), end_to_end (from a record's timestamp until it was read),
// throttled (answers that asked to wait) and consumer_lag (an amount: records of a partition behind what was read). MQTT has messages_sent, messages_received, ack_latency and late_answers as well,
// connect_latency (from CONNECT to CONNACK) and duplicates (messages of a subscription that came again). RabbitMQ has messages_sent, messages_received,
// late_answers and server_errors as well, confirm_latency (from a message to its confirm),
// unconfirmed (messages that the kernel took and nothing confirms), returned (that no queue got) and redelivered (that a queue had delivered before).
// MQTT, NATS and RabbitMQ have end_to_end as well (from when a message with a stamp was queued until it was read, by the clock of one machine),
// and stamps_unknown (messages whose stamp is of another machine: they have no end_to_end). SMTP has
// recipients_accepted and recipients_refused (by what the server answers to each). PostgreSQL and MySQL have
// rows (that statements returned), affected (that they inserted, updated, deleted or merged) and transaction_time (of those
// that functions hold, from BEGIN to COMMIT or ROLLBACK). SFTP and SCP have auth_time (of a new connection),
// transferred (bytes of files) and transfer_time (of one file). FTP has the last two, data_connect (of a data connection) and first_byte (of what comes
// there). MongoDB has documents (that cursors returned),
// batches (that they came in) and affected (documents inserted, changed or deleted).
type Measure struct {
	Count   uint64        `json:"count"`              // occurrences, times or amounts
	TimesNS *Distribution `json:"times_ns,omitempty"` // of a measure of times

	AmountMilli *Distribution `json:"amount_milli,omitempty"` // of a measure of amounts, in thousandths
}

// Series sums up the steps of a workflow that share one tag. A workflow has at most 100; the
// series with the tag other holds the rest, once for each tag.
type Series struct {
	Tag       string       `json:"tag"`   // its name
	Value     string       `json:"value"` // its value
	Totals                 // of all those steps
	RateMilli uint64       `json:"rate_milli"` // requests that ended, a second, in thousandths
	LatencyNS Distribution `json:"latency_ns"` // of their requests, merged
}

// Course shows the counts over time. Its windows have one width: 100 ms in runs of up to 51
// seconds, then twice as much for each doubling. If the workflow has an interval, the whole
// job's course merges adjacent windows until they are at least that wide. Windows in which
// nothing happened are left out.
type Course struct {
	WidthNS int64    `json:"width_ns"` // of each window; 0 if there is none
	Dropped bool     `json:"dropped"`  // there was no room for them on the way, as logs says
	Windows []Window `json:"windows"`  // ascending

	PerOctave int `json:"buckets_per_octave,omitempty"` // in how many buckets windows count the latencies between two powers of two: 8, fewer if the figures of many steps had no room. Older files do not say, and have 1
}

// Window is one interval of the time since the load began, on each executor's clock.
type Window struct {
	SinceNS  int64  `json:"since_ns"`  // when it began
	Started  uint64 `json:"started"`   // requests begun in it
	OK       uint64 `json:"ok"`        // requests that ended well in it
	Failed   uint64 `json:"failed"`    // requests that failed in it
	TimedOut uint64 `json:"timed_out"` // requests whose time ran out in it
	Bytes    uint64 `json:"bytes"`     // received and sent, told when a request ends
	P50NS    uint64 `json:"p50_ns"`    // estimate of the median latency, within its bucket: an eighth of it, if buckets_per_octave is 8
	P99NS    uint64 `json:"p99_ns"`    // the same at 99 %

	Buckets Buckets `json:"latency_buckets,omitempty"` // latencies of the window: what a comparison and a plot need; of the whole job only
}

// Activity is what a workflow's virtual users did over time. Windows in which nothing happened are
// left out.
type Activity struct {
	WidthNS int64          `json:"width_ns"` // of each window; 0 if there is none
	Dropped bool           `json:"dropped"`  // there was no room for them on the way, as logs says
	Windows []ActiveWindow `json:"windows"`  // ascending
}

// ActiveWindow is one interval of the time since the load began.
type ActiveWindow struct {
	SinceNS int64  `json:"since_ns"`     // when it began
	Active  uint64 `json:"active_milli"` // virtual users that were active, on average, in thousandths
	Begun   uint64 `json:"begun"`        // iterations that began in it
	Asked   uint64 `json:"asked"`        // iterations that were due or began in it: those that no virtual user was free for are the difference
}

// Error is one kind of failure.
type Error struct {
	Kind    string `json:"kind"`    // of a bounded set; of a check its own text
	Count   uint64 `json:"count"`   // how often
	Example string `json:"example"` // the first of them, in words
}

// Check is a step that passes or fails.
type Check struct {
	Name    string  `json:"name"`    // as declared
	Passed  uint64  `json:"passed"`  // how often it was met
	Failed  uint64  `json:"failed"`  // how often not
	Skipped uint64  `json:"skipped"` // never asked: a step that it needs failed
	Errors  []Error `json:"errors"`  // failures by text, most frequent first
}

// Metric is a number that the file records.
type Metric struct {
	Name       string       `json:"name"`        // as declared
	ValueMilli Distribution `json:"value_milli"` // of what was recorded, in thousandths
	SumMilli   uint64       `json:"sum_milli"`   // of all values, in thousandths
	RateMilli  uint64       `json:"rate_milli"`  // that sum, a second, in thousandths
	Failed     uint64       `json:"failed"`      // how often its function gave no number
	Errors     []Error      `json:"errors"`      // those, by kind
}

// Lost is a given-up attempt at a share of a workflow. Times are of the workflow.
type Lost struct {
	Shard        uint32 `json:"shard"`         // which share of the workflow
	Attempt      uint64 `json:"attempt"`       // which try of it, from 1; 0 where no node knows
	Worker       string `json:"worker"`        // who ran it; empty where no node knows
	Reason       string `json:"reason"`        // why it was given up
	Started      uint64 `json:"started"`       // requests it had begun by its last report
	OK           uint64 `json:"ok"`            // requests it had seen answered by then
	Counted      bool   `json:"counted"`       // the figures of its last report are part of the workflow's; else they count nowhere
	FromNS       int64  `json:"from_ns"`       // when it began
	UntilNS      int64  `json:"until_ns"`      // until then its figures count
	UnreportedNS int64  `json:"unreported_ns"` // it sent load for at most so long that no figure counts
	Unreplaced   bool   `json:"unreplaced"`    // no other attempt followed before the workflow's time was over; what was due is in no count
}

// LostOf is a lost attempt as the cluster reports it.
func LostOf(l *message.LostAttempt) Lost {
	return Lost{
		Shard: l.Shard.Ordinal, Attempt: l.Attempt, Worker: l.Worker, Reason: l.Reason, Started: l.Started, OK: l.OK,
		Counted: l.Counted, FromNS: int64(l.From), UntilNS: int64(l.Until), UnreportedNS: int64(l.Unreported), Unreplaced: l.Unreplaced,
	}
}

// Distribution sums up many values in a few. Quantiles are at most 0.4 % too high. The
// first line of logs says by how much where a result was too large.
type Distribution struct {
	Count uint64 `json:"count"` // how many values
	Min   uint64 `json:"min"`   // the smallest, exact
	Mean  uint64 `json:"mean"`  // the average, rounded down
	P50   uint64 `json:"p50"`   // half of them are at most this
	P90   uint64 `json:"p90"`   // 90 % are
	P95   uint64 `json:"p95"`   // 95 % are
	P99   uint64 `json:"p99"`   // 99 % are
	P999  uint64 `json:"p999"`  // 99.9 % are
	Max   uint64 `json:"max"`   // the largest, exact
}

// Threshold is one condition of a good run.
type Threshold struct {
	Workflow string `json:"workflow"` // whose it is
	Expr     string `json:"expr"`     // as written
	Of       string `json:"of"`       // latency, service, errors, checks, rate, metric, phase, measure (a time), or count or amount (of a measure)
	Value    int64  `json:"value"`    // ns for latency and service, parts per million for errors and checks, else thousandths
	OK       bool   `json:"ok"`       // whether it was met

	FromNS     int64 `json:"from_ns,omitempty"`    // of a threshold over windows: where the worst of them begins
	UntilNS    int64 `json:"until_ns,omitempty"`   // and where it ends
	Unmeasured bool  `json:"unmeasured,omitempty"` // nothing happened that it could judge: value is no figure
}
