package operate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/ui/units"
)

// cancelsAtOnce bounds the jobs of `cancel --all` that are cancelled at the same time.
const cancelsAtOnce = 16

// bulk cancels all jobs that are meant.
type bulk struct {
	which   selection
	order   message.JobCancel // what each job gets, without its id
	yes     bool
	person  bool // at a terminal, who is asked
	answers io.Reader
	notes   io.Writer
}

// run lists the jobs, asks a person, cancels them, and waits for their ends.
func (b *bulk) run(ctx context.Context, s *session.Session, w io.Writer) error {
	all, err := AskJobs(ctx, s, false)
	if err != nil {
		return err
	}
	b.which.running = true
	all.Jobs = b.which.of(all.Jobs)
	if err := printJobList(w, all, 0); err != nil || len(all.Jobs) == 0 {
		return err
	}
	if err := b.confirm(ctx, len(all.Jobs)); err != nil {
		return err
	}
	return b.cancel(ctx, s, w, all.Jobs)
}

// confirm asks at a terminal whether to cancel n jobs.
func (b *bulk) confirm(ctx context.Context, n int) error {
	switch {
	case b.yes:
		return nil
	case !b.person:
		return command.Usage("%s would be cancelled: add --yes to cancel what the list shows", command.Counted(n, "job"))
	}
	if _, err := fmt.Fprintf(b.notes, "\ncancel %s? [y/N] ", command.Counted(n, "job")); err != nil {
		return err
	}
	read := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(b.answers).ReadString('\n') // at the end of the input it is no yes
		read <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case line := <-read:
		if line == "y" || line == "yes" {
			return nil
		}
		return command.Exit(command.ExitFailed, errors.New("no job is cancelled"))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ending is the end of one job of many.
type ending struct {
	state message.JobState
	err   error
}

// cancel cancels some jobs at a time, and prints each as it ends.
func (b *bulk) cancel(ctx context.Context, s *session.Session, w io.Writer, jobs []message.JobInfo) error {
	var (
		mu     sync.Mutex // guards w, wrote and the counts
		group  sync.WaitGroup
		places = make(chan struct{}, cancelsAtOnce)
		counts bulkCounts
		wrote  error
	)
	if _, wrote = io.WriteString(w, "\n"); wrote != nil {
		return wrote
	}
	for i := range jobs {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			order := b.order
			order.Job = jobs[i].Job
			var e ending
			e.state, e.err = cancelled(ctx, s, &order)
			mu.Lock()
			defer mu.Unlock()
			if _, err := fmt.Fprintln(w, counts.add(&jobs[i], e)); err != nil {
				wrote = err
			}
		})
	}
	group.Wait()
	switch {
	case wrote != nil:
		return wrote
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if _, err := fmt.Fprintln(w, counts.String()); err != nil {
		return err
	}
	if counts.failed > 0 {
		return command.Exit(command.ExitFailed, fmt.Errorf("%s could not be cancelled", command.Counted(counts.failed, "job")))
	}
	return nil
}

// bulkCounts counts the jobs of a bulk by their ends.
type bulkCounts struct{ cancelled, ended, failed int }

// add counts a job, and returns its line.
func (c *bulkCounts) add(j *message.JobInfo, e ending) string {
	name := j.Job.String()
	if j.Name != "" {
		name += " " + units.Clean(j.Name)
	}
	switch {
	case e.err != nil:
		c.failed++
		return fmt.Sprintf("%s: %v", name, e.err)
	case e.state == message.JobCancelled:
		c.cancelled++
		return fmt.Sprintf("%s %v", name, e.state)
	}
	c.ended++
	return fmt.Sprintf("%s had ended before: it is %v", name, e.state)
}

func (c *bulkCounts) String() string {
	text := command.Counted(c.cancelled, "job") + " cancelled"
	if c.ended > 0 {
		text += fmt.Sprintf(", %d had ended before", c.ended)
	}
	if c.failed > 0 {
		text += fmt.Sprintf(", %d could not be cancelled", c.failed)
	}
	return text
}
