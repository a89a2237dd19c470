package kubelet

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// container is one of a pod.
type container struct {
	pod  *pod
	spec *corev1.Container

	status  corev1.ContainerStatus // guarded by the pod's mutex
	process *process               // likewise; nil while none runs
}

func newContainer(p *pod, spec *corev1.Container) *container {
	no := false
	return &container{pod: p, spec: spec, status: corev1.ContainerStatus{
		Name: spec.Name, Image: spec.Image, Started: &no, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
	}}
}

// change changes the status, and makes the pod report it.
func (c *container) change(how func(*corev1.ContainerStatus)) {
	c.pod.mu.Lock()
	how(&c.status)
	c.pod.mu.Unlock()
	c.pod.changed()
}

// wait says why the container does not run.
func (c *container) wait(reason, message string) {
	c.change(func(s *corev1.ContainerStatus) {
		if s.State.Terminated != nil {
			s.LastTerminationState = s.State
		}
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	})
}

// run starts the container, and again when it ends, until its pod ends.
func (c *container) run(ctx context.Context) {
	key := string(c.pod.uid) + " " + c.spec.Name
	back := c.pod.kubelet.backoff
	if late := c.pod.late; late > 0 && !c.rest(ctx, late) {
		return
	}
	for {
		p, reason, err := c.start(ctx)
		if err != nil {
			c.pod.log("%s: %s: %v", c.spec.Name, reason, err)
			c.wait(reason, err.Error())
			if !c.rest(ctx, retryAfter) {
				return
			}
			continue
		}
		c.supervise(ctx, p)
		code, _ := p.code()
		if !again(c.pod.pod().Spec.RestartPolicy, code) {
			return
		}
		select {
		case <-c.pod.ending:
			return
		case <-ctx.Done():
			return
		default:
		}
		if back.IsInBackOffSince(key, p.ended) {
			delay := back.Get(key)
			c.wait("CrashLoopBackOff", fmt.Sprintf("back-off %v restarting failed container", delay))
			if !c.rest(ctx, time.Until(p.ended.Add(delay))) {
				return
			}
		}
		back.Next(key, p.ended)
		c.change(func(s *corev1.ContainerStatus) { s.RestartCount++ })
	}
}

// rest waits, and is false if the pod ends before.
func (c *container) rest(ctx context.Context, how time.Duration) bool {
	timer := time.NewTimer(how)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.pod.ending:
	case <-ctx.Done():
	}
	return false
}

// start starts a process, or says why it cannot.
func (c *container) start(ctx context.Context) (p *process, reason string, _ error) {
	binary, found := c.pod.kubelet.config.Images[c.spec.Image]
	if !found {
		return nil, "ErrImagePull", fmt.Errorf("image %q: this kubelet has no such image", c.spec.Image)
	}
	b, err := c.birth(ctx, binary)
	if err != nil {
		return nil, "CreateContainerConfigError", err
	}
	if p, err = b.start(c.pod.kubelet.Log(c.pod.namespace, c.pod.name, c.spec.Name)); err != nil {
		return nil, "RunContainerError", err
	}
	c.pod.log("%s at %s has started as process %d", c.spec.Name, c.pod.wire.address, p.cmd.Process.Pid)
	c.pod.mu.Lock()
	c.process = p
	c.pod.mu.Unlock()
	c.change(func(s *corev1.ContainerStatus) {
		if s.State.Terminated != nil {
			s.LastTerminationState = s.State
		}
		no := false
		s.ContainerID, s.ImageID, s.Ready, s.Started = fmt.Sprintf("process://%d", p.cmd.Process.Pid), "process://"+binary, false, &no
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(p.began.Truncate(time.Second))}}
	})
	return p, "", nil
}

// birth is what the container starts with.
func (c *container) birth(ctx context.Context, binary string) (*birth, error) {
	newest, stored := c.pod.pod(), c.pod.stored(ctx)
	env, err := environment(newest, c.spec, c.pod.addresses, stored)
	if err != nil {
		return nil, err
	}
	args, err := arguments(c.spec, env)
	if err != nil {
		return nil, err
	}
	root, err := c.root()
	if err != nil {
		return nil, err
	}
	b := &birth{
		Network: c.pod.wire.path(), Hostname: c.pod.name, Root: root, Binary: binary, Args: args, Env: assignments(env),
		Files: map[string]string{
			"/etc/resolv.conf": fmt.Sprintf("nameserver %s\nsearch %s.svc.%[3]s svc.%[3]s %[3]s\noptions ndots:5\n", Address, c.pod.namespace, domain),
			"/etc/hosts":       fmt.Sprintf("127.0.0.1\tlocalhost\n%s\t%s\n", c.pod.wire.address, c.pod.name),
			"/etc/hostname":    c.pod.name + "\n",
		},
	}
	for _, m := range c.spec.VolumeMounts {
		from, found := c.pod.volumes[m.Name]
		if !found || m.SubPath != "" {
			return nil, fmt.Errorf("volumeMounts %s: this kubelet has no such volume, or no subPath", m.Name)
		}
		b.Mounts = append(b.Mounts, mount{From: from, To: m.MountPath, ReadOnly: m.ReadOnly})
	}
	return b, c.rights(newest, b)
}

// rights are what the security contexts of container and pod say.
func (c *container) rights(pod *corev1.Pod, b *birth) error {
	of, own := pod.Spec.SecurityContext, c.spec.SecurityContext
	if of == nil || own == nil || of.RunAsUser == nil || of.RunAsGroup == nil || own.RunAsUser != nil {
		return fmt.Errorf("securityContext: this kubelet needs that of the container, and runAsUser and runAsGroup of the pod")
	}
	b.User, b.Group, b.Writable = int(*of.RunAsUser), int(*of.RunAsGroup), !is(own.ReadOnlyRootFilesystem)
	b.Groups = []int{b.Group}
	if of.FSGroup != nil {
		b.Groups = append(b.Groups, int(*of.FSGroup))
	}
	return nil
}

// supervise asks the probes of a process until it has ended.
func (c *container) supervise(ctx context.Context, p *process) {
	asking, enough := context.WithCancel(ctx)
	defer enough()
	h, results, stopping := newHealth(c.spec), make(chan result), false
	ask := func() {
		for k := range kinds {
			if h.due(k) {
				go c.ask(asking, k, *h.counters[k].probe, results)
			}
		}
	}
	ask()
	c.report(h)
	ending := c.pod.ending
	for {
		select {
		case r := <-results:
			before := h.started()
			h.add(r.kind, r.good)
			c.report(h)
			if !before && h.started() {
				ask()
			}
			if k, dead := h.dead(); dead && !stopping {
				stopping = true
				c.pod.log("%s: probe %d ends it", c.spec.Name, k)
				go c.stop(ctx, p, func() (time.Time, <-chan struct{}) { return time.Now().Add(c.grace(k)), nil })
			}
		case <-ending:
			ending, stopping = nil, true
			go c.stop(ctx, p, c.pod.end)
		case <-ctx.Done():
			_ = p.cmd.Process.Kill() // it may have ended
			<-p.done
		case <-p.done:
			c.ended(p)
			return
		}
	}
}

// ask sends one probe again and again: the startup probe until it has succeeded, the others until the process has ended.
func (c *container) ask(ctx context.Context, k kind, probe corev1.Probe, results chan<- result) {
	if !pause(ctx, time.Duration(probe.InitialDelaySeconds)*time.Second) {
		return
	}
	row := int32(0)
	for {
		err := ask(ctx, c.pod.wire.address.String(), c.spec, &probe)
		select {
		case results <- result{kind: k, good: err == nil}:
		case <-ctx.Done():
			return
		}
		if row++; err != nil {
			row = 0
		}
		if k == startup && row >= max(probe.SuccessThreshold, 1) || !pause(ctx, time.Duration(max(probe.PeriodSeconds, 1))*time.Second) {
			return
		}
	}
}

// report writes what the probes say into the status.
func (c *container) report(h *health) {
	started, ready := h.started(), h.ready()
	c.pod.mu.Lock()
	same := *c.status.Started == started && c.status.Ready == ready
	c.pod.mu.Unlock()
	if !same {
		c.change(func(s *corev1.ContainerStatus) { s.Started, s.Ready = &started, ready })
	}
}

// grace is that of an end which a probe orders.
func (c *container) grace(k kind) time.Duration {
	probe := c.spec.LivenessProbe
	if k == startup {
		probe = c.spec.StartupProbe
	}
	return seconds(probe.TerminationGracePeriodSeconds, c.pod.pod().Spec.TerminationGracePeriodSeconds)
}

// stop ends a process with SIGTERM, and with SIGKILL when its deadline has passed.
func (c *container) stop(ctx context.Context, p *process, end func() (time.Time, <-chan struct{})) {
	p.signal(syscall.SIGTERM)
	deadline, moved := end()
	for {
		timer := time.NewTimer(time.Until(deadline))
		select {
		case <-p.done:
			return
		case <-ctx.Done():
			return // supervise kills it
		case <-moved:
			deadline, moved = end()
		case <-timer.C:
			c.pod.log("%s has not ended in its grace", c.spec.Name)
			_ = p.cmd.Process.Kill() // it may have ended
			return
		}
	}
}

// ended writes the end of a process into the status.
func (c *container) ended(p *process) {
	code, signal := p.code()
	reason := "Error"
	if code == 0 {
		reason = "Completed"
	}
	c.pod.log("%s has ended with code %d", c.spec.Name, code)
	c.pod.mu.Lock()
	c.process = nil
	c.pod.mu.Unlock()
	no := false
	c.change(func(s *corev1.ContainerStatus) {
		s.Ready, s.Started = false, &no
		s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Signal: signal, Reason: reason, ContainerID: s.ContainerID,
			StartedAt: metav1.NewTime(p.began.Truncate(time.Second)), FinishedAt: metav1.NewTime(p.ended.Truncate(time.Second)),
		}}
	})
}

// root is an empty folder for the container's root.
func (c *container) root() (string, error) {
	path := c.pod.kubelet.path(roots, string(c.pod.uid), strings.ToLower(c.spec.Name))
	return path, makeFolder(path)
}
