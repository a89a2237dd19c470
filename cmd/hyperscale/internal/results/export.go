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
	"strings"
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
	command.RemoveParts(folder, isResult)
	for _, job := range e.due(list.Jobs) {
		if err := e.one(ctx, s, folder, job); err != nil {
			return e.tell(w, list, err)
		}
	}
	return e.tell(w, list, nil)
}

// due are the jobs whose results the folder should have, the oldest first: gates forget these first. It counts those that run.
func (e *export) due(jobs []message.JobInfo) (all []message.JobID) {
	for _, j := range slices.Backward(jobs) {
		switch {
		case e.since > 0 && j.Age > e.since:
		case !j.State.Terminal():
			e.running++
		default:
			all = append(all, j.Job)
		}
	}
	return all
}

// ending is what the name of a job's result has behind its id.
const ending = ".json"

// isResult says that a file's name is that of a result.
func isResult(name string) bool {
	job, has := strings.CutSuffix(name, ending)
	_, err := message.ParseJobID(job)
	return has && err == nil
}

// one copies the result of a job that has ended. It returns an error that ends the export.
func (e *export) one(ctx context.Context, s *session.Session, folder string, job message.JobID) error {
	name := filepath.Join(folder, job.String()+ending)
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
	if err := command.NewFile(name, 0o644, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return command.Exit(command.ExitFailed, err)
	}
	e.written++
	return nil
}

// holds says whether a file is the result of a job. Another file of that name is an error, and is not read if it is no regular one: a
// pipe may have no end.
func holds(name string, job message.JobID) (bool, error) {
	at, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if at.Mode().IsRegular() {
		r, err := report.Read(name)
		if err == nil && r.Job == job.String() {
			return true, nil
		}
		if unread := (*fs.PathError)(nil); errors.As(err, &unread) {
			return false, err
		}
	}
	return false, fmt.Errorf("%s is there and is not the result of job %v: move it away", name, job)
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
			if !m.Result.State.Terminal() {
				return nil, &refusedError{fmt.Errorf("%s answers with the state %v, which is no end: run the command again", s.Gates, m.Result.State)}
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
