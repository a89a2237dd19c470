package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/operate"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// export copies results.
type export struct {
	since time.Duration

	written, kept, running int
	missing                []error // results that the folder lacks
}

func (e *export) run(ctx context.Context, s *session.Session, w io.Writer, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return command.AsUsage(err)
	}
	list, err := operate.AskJobs(ctx, s, false)
	if err != nil {
		return err
	}
	for _, j := range slices.Backward(list.Jobs) { // the oldest first: gates forget these first
		switch {
		case e.since > 0 && j.Age > e.since:
		case !j.State.Terminal():
			e.running++
		default:
			if err := e.one(ctx, s, folder, j.Job); err != nil {
				return e.tell(w, list, err)
			}
		}
	}
	return e.tell(w, list, nil)
}

// one copies the result of a job that has ended. It returns an error that ends the export.
func (e *export) one(ctx context.Context, s *session.Session, folder string, job message.JobID) error {
	name := filepath.Join(folder, job.String()+".json")
	if has, err := holds(name, job); has || err != nil {
		if has {
			e.kept++
		} else {
			e.missing = append(e.missing, err)
		}
		return nil
	}
	r, err := fetch(ctx, s, job)
	var refused *refusedError
	if errors.As(err, &refused) {
		e.missing = append(e.missing, fmt.Errorf("job %v: %w", job, err))
		return nil
	}
	if err != nil {
		return err
	}
	built, err := report.Build(r, time.Time{}) // gates have no common clock
	if err != nil {
		e.missing = append(e.missing, fmt.Errorf("job %v: %w", job, err))
		return nil
	}
	b, err := built.Encode()
	if err != nil {
		return err
	}
	if err := write(name, b); err != nil {
		return command.Exit(command.ExitFailed, err)
	}
	e.written++
	return nil
}

// holds says whether a file is the result of a job. Another file of that name is an error.
func holds(name string, job message.JobID) (bool, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if r, err := report.Decode(b); err != nil || r.Job != job.String() {
		return false, fmt.Errorf("%s is there and is not the result of job %v: move it away", name, job)
	}
	return true, nil
}

// refusedError is why a gate has no result of a job.
type refusedError struct{ error }

// fetch asks for the result of a job that has ended.
func fetch(ctx context.Context, s *session.Session, job message.JobID) (*message.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, session.NewsMax)
	defer cancel()
	watch, err := s.Command(ctx, &message.JobWatch{Job: job})
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	for m := range watch.Answers() {
		switch m := m.(type) {
		case *message.JobResult:
			if m.Result.Job != job {
				return nil, &refusedError{fmt.Errorf("%s answers with the result of job %v", s.Gates, m.Result.Job)}
			}
			return &m.Result, nil
		case *message.Refused:
			return nil, &refusedError{session.Refusal(m)}
		}
	}
	if err := watch.Err(); err != nil && ctx.Err() == nil {
		return nil, s.Silent(err)
	}
	return nil, command.Exit(command.ExitFailed, fmt.Errorf("job %v: no result within %v from %s: run the command again, it goes on from here", job, session.NewsMax, s.Gates))
}

// write gives a file its name once all of it is on the disk, and replaces none.
func write(name string, b []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".partial-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // it has its other name by then, or is of no use
	_, err = file.Write(b)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := os.Link(file.Name(), name); err != nil { // unlike a rename it replaces nothing
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // nothing was written to it
	return dir.Sync()
}

// tell says what the folder has, and what it lacks. cut is what ended the export before its end.
func (e *export) tell(w io.Writer, list *message.JobList, cut error) error {
	if err := operate.PrintSeenBy(w, list); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s written, %d were there, %d missing, %s not ended\n", command.Counted(e.written, "result"), e.kept, len(e.missing), counted(e.running)); err != nil {
		return err
	}
	if cut != nil {
		return errors.Join(append(slices.Clone(e.missing), cut)...)
	}
	faults := e.missing
	if !whole(list) {
		faults = append(faults, errors.New("the list of jobs is not whole: results may be missing: run the command again once a majority of the gates answers"))
	}
	if len(faults) > 0 {
		return command.Exit(command.ExitFailed, errors.Join(faults...))
	}
	return nil
}

func counted(n int) string {
	if n == 1 {
		return "1 job has"
	}
	return fmt.Sprintf("%d jobs have", n)
}

// whole says that no job of a list can be missing.
func whole(l *message.JobList) bool {
	answered := 0
	for _, g := range l.Gates {
		if g.Why == "" {
			answered++
		}
	}
	return !l.More && 2*answered > len(l.Gates)
}
