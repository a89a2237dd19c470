package api

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow/demand"
	"hyperscale/runtime/api/compile"
)

// Bounds of a submission.
const (
	bodyMax  = 1<<20 + 256<<10 // bytes
	keyMax   = 256             // bytes of an Idempotency-Key
	filesMax = 256
	options  = "options" // the part of a multipart body that has no file

	multipartType = "multipart/form-data"
)

// KeyHeader names a job for its caller: the same key and body is the same job.
const KeyHeader = "Idempotency-Key"

// JobHeader names the job that a submission expects: a caller whose token may have another name by now gets no second job.
const JobHeader = "X-Hyperscale-Job"

// Submission is a program, and what to do with it. Of a multipart body it is the part named options; the files are the
// others.
type Submission struct {
	Name        string            `json:"name,omitempty"`  // of the job, in lists; at most 256 bytes. Empty: that of main
	Main        string            `json:"main,omitempty"`  // the file to load first; of one file, that one
	Files       map[string]string `json:"files,omitempty"` // texts by name, with those that main loads and reads
	Params      map[string]string `json:"params,omitempty"`
	Secrets     map[string]string `json:"secrets,omitempty"` // values of the program's secret()
	VUs         uint64            `json:"vus,omitempty"`
	Duration    string            `json:"duration,omitempty"` // as --duration
	Rate        string            `json:"rate,omitempty"`     // as --rate: 500/s
	Iterations  uint64            `json:"iterations,omitempty"`
	Stages      []string          `json:"stages,omitempty"` // as --stage: 30s:100
	Seed        uint64            `json:"seed,omitempty"`   // of random numbers; 0: one that follows from the key
	Datacenters []string          `json:"datacenters,omitempty"`
	Count       uint32            `json:"count,omitempty"`
	Prefer      []string          `json:"prefer,omitempty"`
	Importance  string            `json:"importance,omitempty"` // critical, high, medium, low or background
	Deadline    string            `json:"deadline,omitempty"`   // a duration: give the job up if it has not begun by then
	BestEffort  uint32            `json:"best_effort,omitempty"`
	After       string            `json:"best_effort_after,omitempty"` // a duration
	Outputs     []string          `json:"outputs,omitempty"`           // names of the gates' sinks that get its rows; none given: the default ones; "none": none
}

// Submitted is what POST /v1/jobs answers.
type Submitted struct {
	Job       string    `json:"job"`
	Key       string    `json:"key"`       // Idempotency-Key: that of the request, or a new one
	Duplicate bool      `json:"duplicate"` // the key had submitted it before
	Warnings  []Mistake `json:"warnings"`
}

// submit takes a program.
func (c *call) submit() error {
	in, err := c.submission()
	if err != nil {
		return err
	}
	key := c.r.Header.Get(KeyHeader)
	if len(key) > keyMax {
		return fault(http.StatusBadRequest, "bad_key", "%s has %d bytes, %d is the bound: choose a shorter one", KeyHeader, len(key), keyMax)
	}
	if key == "" {
		key = rand.Text()
	}
	c.order = "key=" + keyOf(c.who.Name, key)
	if want := c.r.Header.Get(JobHeader); want != "" && want != JobOf(c.who.Name, key) {
		return fault(http.StatusPreconditionFailed, "other_job", "%s = %.64q is not the job of this %s: the token is %.64q here, so its job is %s: ask GET /v1/whoami, and look for the job that you expect before you submit another one",
			JobHeader, want, KeyHeader, c.who.Name, JobOf(c.who.Name, key))
	}
	job, err := request(in, keyOf(c.who.Name, key))
	if err != nil {
		return err
	}
	compiled, err := c.compile(&job.Program)
	if err != nil {
		return err
	}
	if job.Program.Secrets, err = c.secrets(in, compiled.Secrets); err != nil {
		return err
	}
	job.Plan, c.job = *compiled.Plan, message.JobOf(job.Key).String()
	answer, err := c.server.ask(c.r.Context(), job)
	if f := (*Fault)(nil); errors.As(err, &f) {
		f.Detail = strings.ReplaceAll(f.Detail, job.Key, key) // the gates' own key names another job here
	}
	if err != nil {
		return err
	}
	ack, ok := answer.(*message.JobAck)
	if !ok {
		return unexpected(answer)
	}
	return c.answer(http.StatusAccepted, Submitted{Job: ack.Job.String(), Key: key, Duplicate: ack.Duplicate, Warnings: mistakes(compiled.Mistakes)})
}

// keyOf is the gates' key of a caller's: two callers never share one, so a job's id shows whose it is.
func keyOf(caller, key string) string {
	sum := sha256.Sum256([]byte(caller + "\x00" + key))
	return message.CallerKey(strings.ToValidUTF8(caller[:min(len(caller), 64)], ""), hex.EncodeToString(sum[:16]))
}

// JobOf is the job that a caller's Idempotency-Key names, whether or not a gate has it. The caller is the name of its token.
func JobOf(caller, key string) string { return message.JobOf(keyOf(caller, key)).String() }

// compile makes the plan in a child process.
func (c *call) compile(p *message.Program) (*compile.Compiled, error) {
	compiled, err := c.server.config.Compiler.Program(c.r.Context(), c.who.Name, p)
	switch {
	case errors.Is(err, compile.ErrBusy):
		f := fault(http.StatusServiceUnavailable, "busy", "%v", err)
		f.RetryAfterSeconds = seconds(c.server.load.wait())
		return nil, f
	case errors.Is(err, compile.ErrStart):
		c.server.config.Logger.Error("the HTTP API cannot compile programs", "error", err.Error())
		f := fault(http.StatusServiceUnavailable, "no_compiler", "this gate cannot start a process that compiles the program: retry after the time given, or ask another gate")
		f.RetryAfterSeconds = seconds(c.server.load.wait())
		return nil, f
	case err != nil && c.r.Context().Err() != nil:
		return nil, fault(http.StatusServiceUnavailable, "gone", "the caller has hung up")
	case err != nil:
		return nil, err
	case compiled.Plan == nil:
		f := fault(http.StatusUnprocessableEntity, "bad_program", "the program has mistakes: correct them, `hyperscale validate` shows them, too")
		f.Mistakes = mistakes(compiled.Mistakes)
		return nil, f
	}
	return compiled, nil
}

func mistakes(in []compile.Mistake) []Mistake {
	out := []Mistake{}
	for _, m := range in {
		out = append(out, Mistake{File: m.File, Line: m.Line, Column: m.Column, Message: m.Message})
	}
	return out
}

// secrets are the values that a program's secret() has.
func (c *call) secrets(in *Submission, names []string) (all []message.Secret, err error) {
	names = slices.Sorted(slices.Values(names))
	for _, name := range slices.Sorted(maps.Keys(in.Secrets)) {
		if !slices.Contains(names, name) {
			return nil, fault(http.StatusUnprocessableEntity, "bad_secret", "the workflow has no secret(%q): take it out of secrets", name)
		}
	}
	for _, name := range names {
		value, has := in.Secrets[name]
		if !has || value == "" {
			return nil, fault(http.StatusUnprocessableEntity, "bad_secret", "secret(%q) has no value: add it to secrets", name)
		}
		all = append(all, message.Secret{Name: name, Value: message.Sealed(value)})
	}
	if len(all) > 0 && c.server.config.Clear {
		return nil, inClear()
	}
	return all, nil
}

// inClear rejects secrets of a program where frames cross the network as they are.
func inClear() error {
	return fault(http.StatusUnprocessableEntity, "clear_text", "secrets leave no machine in clear text: give the cluster a secret with --cluster-secret")
}

// submission reads the body.
func (c *call) submission() (*Submission, error) {
	in := new(Submission)
	c.r.Body = http.MaxBytesReader(c.w.Unwrap(), c.r.Body, bodyMax)
	kind, parameters, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "application/json":
		err = decodeJSON(c.r.Body, in)
	case err == nil && kind == multipartType:
		err = in.parts(multipart.NewReader(c.r.Body, parameters["boundary"]))
	default:
		return nil, fault(http.StatusUnsupportedMediaType, "bad_body", "Content-Type is %q: send application/json, or multipart/form-data", c.r.Header.Get("Content-Type"))
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, fault(http.StatusRequestEntityTooLarge, "too_large", "the body has more than %d bytes: send less", bodyMax)
	case err != nil:
		return nil, fault(http.StatusBadRequest, "bad_body", "the body cannot be read: %v", err)
	}
	return in, in.check()
}

func decodeJSON(r io.Reader, in *Submission) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object: send one")
	}
	return nil
}

// parts reads a multipart body: a file each, by its file name, and options.
func (in *Submission) parts(r *multipart.Reader) error {
	files := map[string]string{}
	for n := 0; ; n++ {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if n == filesMax+1 {
			return fmt.Errorf("it has more than %d parts: send at most %d files and %s", filesMax+1, filesMax, options)
		}
		b, err := io.ReadAll(part)
		switch name := fileOf(part); {
		case err != nil:
			return err
		case name != "":
			if _, twice := files[name]; twice {
				return fmt.Errorf("the file %q stands twice: send it once", name)
			}
			if files[name] = string(b); in.Main == "" {
				in.Main = name
			}
		case part.FormName() == options:
			first := in.Main
			if err := decodeJSON(strings.NewReader(string(b)), in); err != nil {
				return fmt.Errorf("%s: %w", options, err)
			}
			if in.Main == "" {
				in.Main = first
			}
		default:
			return fmt.Errorf("the part %q is no file and not %s: give it a file name", part.FormName(), options)
		}
	}
	if len(in.Files) > 0 {
		return fmt.Errorf("%s has files: send them as parts", options)
	}
	in.Files = files
	return nil
}

// fileOf is the file of a part, with its folders, which part.FileName takes away: check judges it. Empty: it is no file.
func fileOf(part *multipart.Part) string {
	_, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return parameters["filename"]
}

// check names the main file, and rejects names that lead out of the program's folder.
func (in *Submission) check() error {
	if len(in.Files) == 0 || len(in.Files) > filesMax {
		return fault(http.StatusBadRequest, "bad_body", "the body has %d files, want 1 to %d: send the workflow file and those that it loads", len(in.Files), filesMax)
	}
	if in.Main == "" && len(in.Files) == 1 {
		for name := range in.Files { //lint:orderfree there is one
			in.Main = name
		}
	}
	if _, has := in.Files[in.Main]; !has {
		return fault(http.StatusBadRequest, "bad_body", "main = %q is no file of the body: name one of %s", in.Main, strings.Join(slices.Sorted(maps.Keys(in.Files)), ", "))
	}
	for name := range in.Files { //lint:orderfree any wrong name will do
		if name != path.Clean(name) || path.IsAbs(name) || strings.HasPrefix(name, "..") {
			return fault(http.StatusBadRequest, "bad_body", "the file %q is not below the program's folder: name it by a path within", name)
		}
	}
	return nil
}

// request is what the gates get, but for the plan.
func request(in *Submission, key string) (*message.JobSubmit, error) {
	p := message.Program{Main: in.Main, VUs: in.VUs, Iterations: in.Iterations, Seed: in.Seed}
	if p.Seed == 0 { // it follows from the key: the same request is the same job
		sum := sha256.Sum256([]byte("seed " + key))
		p.Seed = binary.LittleEndian.Uint64(sum[:]) | 1
	}
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		p.Files = append(p.Files, message.File{Name: name, Data: []byte(in.Files[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(in.Params)) {
		p.Params = append(p.Params, message.Param{Name: name, Value: in.Params[name]})
	}
	job := &message.JobSubmit{Key: key, Name: cmp.Or(in.Name, in.Main), Datacenters: in.Datacenters, Count: in.Count, Preferred: in.Prefer, BestEffort: message.BestEffort{Least: in.BestEffort}, Outputs: message.SinkNames{List: in.Outputs}, Sent: uint64(time.Now().UnixMilli())}
	var faults []error
	faults = append(faults, spanOf("duration", in.Duration, &p.Duration), spanOf("deadline", in.Deadline, &job.Deadline), spanOf("best_effort_after", in.After, &job.BestEffort.After))
	if in.BestEffort > 0 && in.After == "" {
		job.BestEffort.After = 5 * time.Minute // as the command has it
	}
	if in.Rate != "" {
		var err error
		p.Rate, p.RatePer, err = demand.ParseRate(in.Rate)
		faults = append(faults, named("rate", err))
	}
	for _, text := range in.Stages {
		stage, err := demand.ParseStage(text)
		p.Stages, faults = append(p.Stages, stage), append(faults, named("stages", err))
	}
	if in.Importance != "" {
		at := slices.Index(message.Ranks(), in.Importance)
		if at < 0 {
			faults = append(faults, fmt.Errorf("importance = %q is none: write %s", in.Importance, strings.Join(message.Ranks(), ", ")))
		}
		job.Rank = message.Rank(max(0, at))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fault(http.StatusUnprocessableEntity, "bad_value", "%v", err)
	}
	job.Program = p
	return job, nil
}

func named(field string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// spanOf reads a duration; an empty text leaves it out.
func spanOf(field, text string, to *time.Duration) error {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%s = %q is no duration above 0: write a number and its unit, like 30s", field, text)
	}
	*to = d
	return nil
}
