package kubelet

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// retryAfter is the delay before the kubelet tries again what failed.
const retryAfter = 500 * time.Millisecond

// pod is one that a node runs.
type pod struct {
	kubelet   *Kubelet
	namespace string
	name      string
	uid       types.UID
	began     time.Time
	late      time.Duration // its containers start so much later
	ending    chan struct{} // closed when the pod must end
	dirty     chan struct{} // has an element while the status is to be reported
	wire      wire          // set before containers run
	volumes   map[string]string

	mu         sync.Mutex
	newest     *corev1.Pod
	removed    bool // the API server no longer has it
	deadline   time.Time
	hurried    chan struct{} // closed and replaced when the deadline moves
	addresses  addresses
	containers []*container
}

func newPod(k *Kubelet, newest *corev1.Pod) *pod {
	p := &pod{
		kubelet: k, namespace: newest.Namespace, name: newest.Name, uid: newest.UID, began: time.Now(), late: k.delay, newest: newest,
		ending: make(chan struct{}), dirty: make(chan struct{}, 1), hurried: make(chan struct{}), addresses: addresses{host: Address},
	}
	for i := range newest.Spec.Containers {
		p.containers = append(p.containers, newContainer(p, &newest.Spec.Containers[i]))
	}
	return p
}

func (p *pod) log(format string, args ...any) {
	p.kubelet.config.Log("%s %s", p.name, fmt.Sprintf(format, args...))
}

// update takes a newer version. A deletion begins the end, and one with less grace hurries it.
func (p *pod) update(newest *corev1.Pod, removed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest, p.removed = newest, p.removed || removed
	if newest.DeletionTimestamp == nil && !p.removed {
		return
	}
	deadline := time.Now().Add(seconds(newest.DeletionGracePeriodSeconds, newest.Spec.TerminationGracePeriodSeconds))
	if p.deadline.IsZero() {
		p.deadline = deadline
		close(p.ending)
	} else if deadline.Before(p.deadline) {
		p.deadline = deadline
		close(p.hurried)
		p.hurried = make(chan struct{})
	}
}

// seconds is the first of some periods that is given.
func seconds(periods ...*int64) time.Duration {
	for _, s := range periods {
		if s != nil {
			return time.Duration(*s) * time.Second
		}
	}
	return corev1.DefaultTerminationGracePeriodSeconds * time.Second
}

// end is when a pod that ends must have ended, and what is closed when that moves.
func (p *pod) end() (time.Time, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deadline, p.hurried
}

// run runs the pod until it has left the API server, or the context ends, which kills it.
func (p *pod) run(ctx context.Context) {
	reporting, reported := context.WithCancel(ctx)
	var reporter sync.WaitGroup
	reporter.Go(func() { p.reportAll(reporting) })
	if p.setUp(ctx) {
		var all sync.WaitGroup
		for _, c := range p.containers {
			all.Go(func() { c.run(ctx) })
		}
		all.Wait()
	}
	select {
	case <-p.ending:
	case <-ctx.Done():
	}
	reported()
	reporter.Wait()
	p.tearDown()
	for !p.leave(ctx) && pause(ctx, retryAfter) {
	}
}

// setUp gives the pod its network and volumes. It is false if the pod must end before.
func (p *pod) setUp(ctx context.Context) bool {
	for {
		err := p.trySetUp(ctx)
		if err == nil {
			return true
		}
		for _, c := range p.containers {
			c.wait("ContainerCreating", err.Error())
		}
		timer := time.NewTimer(retryAfter)
		select {
		case <-timer.C:
		case <-p.ending:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

func (p *pod) trySetUp(ctx context.Context) (err error) {
	newest := p.pod()
	if len(newest.Spec.InitContainers) > 0 {
		return fmt.Errorf("initContainers: this kubelet has none")
	}
	if p.wire == (wire{}) {
		if p.wire, err = p.kubelet.network.add(); err != nil {
			return err
		}
		p.mu.Lock()
		p.addresses.pod = p.wire.address.String()
		p.mu.Unlock()
		p.changed()
	}
	if p.volumes == nil {
		p.volumes, err = mountVolumes(newest, p.kubelet.path(volumes, string(p.uid)), p.stored(ctx))
	}
	return err
}

// tearDown removes what the pod had of its node.
func (p *pod) tearDown() {
	if p.wire != (wire{}) {
		p.kubelet.network.remove(p.wire)
	}
	for _, folder := range []string{volumes, roots} {
		if err := os.RemoveAll(p.kubelet.path(folder, string(p.uid))); err != nil {
			p.log("remove its %s: %v", folder, err)
		}
	}
}

// leave reports the end and removes the pod from the API server. It is false if that must be tried again.
func (p *pod) leave(ctx context.Context) bool {
	p.mu.Lock()
	removed := p.removed
	p.mu.Unlock()
	if removed {
		return true
	}
	if err := p.report(ctx); err != nil && !errors.IsNotFound(err) {
		return false
	}
	now := int64(0)
	err := p.kubelet.config.Client.CoreV1().Pods(p.namespace).Delete(ctx, p.name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &p.uid}})
	return err == nil || errors.IsNotFound(err) || errors.IsConflict(err)
}

func (p *pod) stored(ctx context.Context) stored {
	return stored{ctx: ctx, client: p.kubelet.config.Client, namespace: p.namespace}
}

// pod is its newest version.
func (p *pod) pod() *corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest
}

// changed makes the reporter report the status.
func (p *pod) changed() {
	select {
	case p.dirty <- struct{}{}:
	default:
	}
}

func (p *pod) reportAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.dirty:
		}
		if err := p.report(ctx); err != nil && !errors.IsNotFound(err) {
			if !pause(ctx, retryAfter) {
				return
			}
			p.changed()
		}
	}
}

// report writes the status, unless the API server has it.
func (p *pod) report(ctx context.Context) error {
	pods := p.kubelet.config.Client.CoreV1().Pods(p.namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current, err := pods.Get(ctx, p.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if current.UID != p.uid {
			return errors.NewNotFound(corev1.Resource("pods"), p.name) // another one has the name
		}
		v := p.view()
		status := v.status(current, current.Status, time.Now())
		if equality.Semantic.DeepEqual(current.Status, status) {
			return nil
		}
		current.Status = status
		_, err = pods.UpdateStatus(ctx, current, metav1.UpdateOptions{})
		return err
	})
}

func (p *pod) view() *view {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &view{began: p.began, addresses: p.addresses}
	for _, c := range p.containers {
		v.containers = append(v.containers, *c.status.DeepCopy())
	}
	return v
}

// processes are the first ones of its running containers.
func (p *pod) processes() (all []*process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.containers {
		if c.process != nil {
			all = append(all, c.process)
		}
	}
	return all
}
