package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"encoding/hex"
	"time"
)

// FileDigest names a file by the SHA-256 of its bytes.
type FileDigest [32]byte

func (d FileDigest) String() string { return hex.EncodeToString(d[:8]) }

// FileChunk carries a piece of a file to a member that must keep it, or that has requested it.
//
//catalogue:message kind=104 class=data priority=high full=drop from=gate,manager since=0 datagram=yes
type FileChunk struct {
	Group  string     `msg:"group" require:"true"`
	File   FileDigest `msg:"file" require:"true"`
	Length uint64     `msg:"length" require:"true"` // of the whole file
	Offset uint64     `msg:"offset"`
	Nonce  uint64     `msg:"nonce"` // that FileKept must return, 0 for none
	Data   []byte     `msg:"data,limit=262144"`
}

// FileKept reports that a file is whole, its digest is right, and it is on disk; or how much of
// it has arrived.
//
//catalogue:message kind=105 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type FileKept struct {
	Group string     `msg:"group" require:"true"`
	File  FileDigest `msg:"file" require:"true"`
	Nonce uint64     `msg:"nonce" require:"true"` // of the FileOffer or FileChunk
	Next  uint64     `msg:"next"`                 // first missing offset
	Whole bool       `msg:"whole"`
}

// FileOffer asks whether a member has a file, and states its length. Answers from before a lost
// disk must not count: each Keep draws its own nonce.
//
//catalogue:message kind=106 class=control priority=high full=drop from=gate,manager since=0 datagram=yes
type FileOffer struct {
	Group  string     `msg:"group" require:"true"`
	File   FileDigest `msg:"file" require:"true"`
	Length uint64     `msg:"length" require:"true"`
	Nonce  uint64     `msg:"nonce" require:"true"`
}

// FileFetch requests a file from an offset on; FileChunks or a FileMissing follow.
//
//catalogue:message kind=107 class=control priority=high full=keep from=gate,manager since=0 datagram=yes
type FileFetch struct {
	Group  string     `msg:"group" require:"true"`
	File   FileDigest `msg:"file" require:"true"`
	Offset uint64     `msg:"offset"`
}

// FileMissing reports that the member lacks the file.
//
//catalogue:message kind=108 class=control priority=high full=keep from=gate,manager since=0 datagram=yes
type FileMissing struct {
	Group string     `msg:"group" require:"true"`
	File  FileDigest `msg:"file" require:"true"`
}

// FileSweep asks which of these files the receiver names in no record and in no open write. The
// sender deletes its copies once a majority has answered so.
//
//catalogue:message kind=109 class=control priority=high full=keep from=gate,manager since=0 datagram=yes
type FileSweep struct {
	Group string       `msg:"group" require:"true"`
	Nonce uint64       `msg:"nonce" require:"true"`
	Files []FileDigest `msg:"files"`
}

// FileFree lists the files of a FileSweep that its sender does not name.
//
//catalogue:message kind=110 class=control priority=high full=keep from=gate,manager since=0 datagram=yes
type FileFree struct {
	Group string       `msg:"group" require:"true"`
	Nonce uint64       `msg:"nonce" require:"true"` // of the FileSweep
	Files []FileDigest `msg:"files"`
}

// OutputBatch is a file of the gates: rows of one job for one sink, and what makes the rows that follow
// them. No frame carries it as such: core/archive sends files.
type OutputBatch struct {
	Job    JobID        `msg:"job"`
	Sink   string       `msg:"sink"`
	Number uint64       `msg:"number"` // among the batches of the job for the sink, from 1
	Final  bool         `msg:"final"`  // none follows
	Rows   []OutputRow  `msg:"rows"`
	Ledger OutputLedger `msg:"ledger"`
}

// OutputRow is one row.
type OutputRow struct {
	Kind       uint8         `msg:"kind"` // of core/output
	Datacenter string        `msg:"datacenter"`
	Workflow   string        `msg:"workflow"`
	From       time.Duration `msg:"from"`
	To         time.Duration `msg:"to"`
	Epoch      uint64        `msg:"epoch"`
	Revision   uint64        `msg:"revision"`
	Active     uint64        `msg:"active"` // virtual users
	Blunt      bool          `msg:"blunt"`
	Step       StepStats     `msg:"step"` // its name, and what rows have of it
	Threshold  OutputVerdict `msg:"threshold"`
	Run        OutputRun     `msg:"run"`
}

// OutputVerdict is a threshold of a row.
type OutputVerdict struct {
	Expr       string      `msg:"expr"` // empty: the row is of none
	Value      int64       `msg:"value"`
	Of         ThresholdOf `msg:"of"`
	Met        bool        `msg:"met"`
	Unmeasured bool        `msg:"unmeasured"`
}

// OutputRun is the end of a job, in a row.
type OutputRun struct {
	Ended        time.Duration `msg:"ended"` // of the job's time; zero: it has not
	Outcome      string        `msg:"outcome"`
	Saturated    bool          `msg:"saturated"`
	ThresholdsOK bool          `msg:"thresholds_ok"`
	Requests     uint64        `msg:"requests"`
	LostRequests uint64        `msg:"lost_requests"`
}

// OutputLedger is what rows have told of a job.
type OutputLedger struct {
	Test     string        `msg:"test"`
	Window   time.Duration `msg:"window"`
	Started  int64         `msg:"started"` // of the job, in ms since 1970
	Revision uint64        `msg:"revision"`
	At       time.Duration `msg:"at"`
	Blunt    bool          `msg:"blunt"`
	Begun    bool          `msg:"begun"` // it has made a row
	Parts    []OutputPart  `msg:"parts"`
}

// OutputPart is what rows have told of a workflow in a datacenter; of the whole job, the datacenter is empty.
type OutputPart struct {
	Datacenter string       `msg:"datacenter"`
	Workflow   string       `msg:"workflow"`
	Lost       uint64       `msg:"lost"`
	Fresh      uint64       `msg:"fresh"`
	Steps      []OutputStep `msg:"steps"`
}

// OutputStep is what rows have told of a step.
type OutputStep struct {
	Base   StepStats     `msg:"base"`
	From   time.Duration `msg:"from"`
	Waited uint64        `msg:"waited"`
}
