package workflow

type call struct{}

// VU is one virtual user of a workflow. Its methods must not run at the same
// time, but for a Call that blocks in its Client.
type VU struct {
	w         *Workflow
	id, seed  uint64
	iteration uint64
	client    Client
}

// NewVU returns a virtual user. It costs little until its first Call.
func (w *Workflow) NewVU(id, seed uint64, c Client) *VU {
	return &VU{w: w, id: id, seed: seed, client: c}
}

// Begin starts a new pass: the results of the one before are forgotten.
func (v *VU) Begin() { v.iteration++ }

// SetResponse tells the result of a request step, so that functions after it
// get it by name.
func (v *VU) SetResponse(step int, r *Response) {}

// Call runs the function of a step that is not a request.
func (v *VU) Call(step int) Outcome { return Outcome{} }
