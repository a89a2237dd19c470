package event

import "hyperscale/core/node"

// New returns a pointer to an empty event of a name, to decode into. It returns nil if the
// catalogue has no such event.
func New(name string) node.Event {
	for _, e := range All() {
		if e.EventName() == name {
			return e
		}
	}
	return nil
}

// All returns a pointer to an empty event of every kind, in the order of the
// catalogue.
func All() []node.Event {
	return []node.Event{
		&JobChanged{}, &JobSubmitted{}, &SubjobChanged{}, &WorkflowChanged{}, &WorkflowAborted{}, &WorkflowEnded{}, &Acted{}, &FenceRefused{}, &FenceStored{}, &ShardStarted{}, &CoreFreed{}, &ShardEnded{},
		&ShardCounted{}, &SegmentCounted{}, &SubjobCounted{}, &SubjobGivenUp{}, &RowsTaken{}, &WaitsReleased{}, &BarrierReleased{}, &ShardDispatched{}, &ShardLost{}, &BudgetSpent{}, &SubjobDispatched{}, &ExecutorGone{}, &ExecutorWatched{}, &PeerRegistered{}, &PeerLost{}, &PeerRefused{}, &Ignored{}, &Implausible{}, &StoreFailed{}, &ReportsPaced{}, &Shed{}, &BoundNear{}, &BoundUsed{}, &LettersKept{}, &CoresWanted{}, &DispatchesPaced{}, &DatacenterFavoured{}, &SubjobLate{}, &Alert{}, &CircuitChanged{}, &LoadChanged{}, &JobBegan{}, &FleetCounted{}, &MemoryLevel{}, &ManagerJudged{}, &NameResolved{}, &NameFailed{}, &GatesKnown{}, &GatesRecalled{}, &GatePreferred{},
		&LeaseGranted{}, &LeaseExtended{}, &LeaseEnded{}, &LeaseCalled{}, &LeaseReturned{}, &AcceptorWrote{},
		&GroupJoined{}, &GroupLevel{}, &GroupRefused{}, &GroupMoved{}, &GroupAlarm{}, &ClockSuspect{}, &Reached{},
		&MemberChanged{}, &HealthChanged{}, &Voted{}, &Elected{}, &SteppedDown{}, &LeaderKnown{},
		&ClientCalled{}, &ClientReturned{}, &ClientTold{}, &AskedAgain{}, &ShardRenewed{}, &SinkEnded{},
	}
}
