package plan

import "time"

// Bounds of what a plan may hold.
const (
	WorkflowsMax  = 100
	StepsMax      = 1000 // of a workflow
	ThresholdsMax = 200  // of a workflow
	AbortsMax     = 200  // of a workflow
	VerdictsMax   = 4096 // thresholds of all workflows: a message's list holds no more
	StagesMax     = 101  // a hundred, and the value where the first begins
	ReportsMax    = 16
	TagsMax       = 32 // of a workflow, or of a step
	ParamsMax     = 1000
	CountersMax   = 16
	BarriersMax   = 16
)

// Bounds of its texts, in bytes.
const (
	NameMax   = 64
	TagMax    = 256
	ExprMax   = 200
	ReportMax = 2000
	GroupMax  = 128 // of all names of nested groups
	PathMax   = 1024

	// BytesMax and ProgramMax together leave room in a frame for the rest of a submission and
	// of a dispatch. The verdicts on the thresholds of a plan of BytesMax take at most 572 KiB,
	// so that they fit a result's frame.
	BytesMax = 384 << 10
)

// Bounds of the load that it may declare.
const (
	VUsMax         = 10_000_000
	IterationsMax  = 1_000_000_000_000 // far beyond a month of load
	RateMax        = 10_000_000        // a second
	CoresMax       = 1 << 16
	ConnectionsMax = 1_000_000
	WeightMax      = 1_000_000
	RowsMax        = 1 << 48
	MemoryMin      = 64 << 20 // of an executor: without load it has about 30 MiB
	MemoryMax      = 1 << 40
	CounterMax     = 1_000_000_000_000 // values of a counter
	CounterStart   = 1 << 52           // of its first value: JSON's numbers hold the last one exactly
)

// Bounds of its durations.
const (
	// DurationMax bounds each span of a plan, and all layers of its workflows together.
	// A month has 31 days.
	DurationMax = 31 * 24 * time.Hour

	// TimeoutMax bounds how long a workflow waits for one answer.
	TimeoutMax = 24 * time.Hour

	// WaitMax bounds how long a virtual user waits at a barrier.
	WaitMax = 10 * time.Minute

	IntervalMin = 100 * time.Millisecond

	// OverMin is the shortest window of a threshold: two of the shortest measured ones.
	OverMin = 2 * IntervalMin
)

// Bounds of a program.
const (
	FilesMax     = 1000      // those that travel, and those that do not
	FileBytesMax = 512 << 10 // of all its files that travel
	FeedsMax     = FilesMax  // files that do not travel
	ColumnsMax   = 256
	ColumnMax    = 128     // bytes of a name
	FeedBytesMax = 1 << 40 // of all files that do not travel
	SecretsMax   = 100
	SecretMin    = 4 // bytes of a value: outputs hide it wherever it stands
	SecretMax    = 16 << 10

	// ProgramMax bounds the files, their names, the params, the secrets and the feeds, encoded.
	ProgramMax = FileBytesMax + 96<<10
)
