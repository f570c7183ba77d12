package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionReady says whether backups are made as the spec wants them: True when the CronJob is as it should be, also
// when that is to be suspended.
const ConditionReady = "Ready"

// Reasons of ConditionReady.
const (
	ReasonScheduled = "Scheduled" // True: backups are made
	ReasonSuspended = "Suspended" // True: none are made, as was asked for
	ReasonNameTaken = "NameTaken" // False: a CronJob of the name belongs to somebody else
	ReasonRefused   = "Refused"   // False: the API server does not take what the spec asks for
	ReasonFailed    = "Failed"    // False: something went wrong that may go right the next time
)

// StorageClass is where backups are kept.
// +kubebuilder:validation:Enum=standard;premium;archive
type StorageClass string

// The storage classes.
const (
	StorageStandard StorageClass = "standard"
	StoragePremium  StorageClass = "premium"
	StorageArchive  StorageClass = "archive"
)

// BackupTarget is a namespace that is backed up.
type BackupTarget struct {
	// namespace is the name of the namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// includeSecrets says whether the Secrets of the namespace are backed up too.
	// +optional
	// +kubebuilder:default=false
	IncludeSecrets *bool `json:"includeSecrets,omitempty"`
}

// BackupPolicySpec is what is wanted.
type BackupPolicySpec struct {
	// schedule says when to back up, as a cron expression of five fields in UTC.
	// +required
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^\S+( \S+){4}$`
	Schedule string `json:"schedule"`

	// retentionDays is how many days a backup is kept.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=365
	RetentionDays int32 `json:"retentionDays"`

	// storageClass is the class of storage that backups are written to.
	// +optional
	// +kubebuilder:default=standard
	StorageClass StorageClass `json:"storageClass,omitempty"`

	// targets are the namespaces that are backed up; none means the policy's own.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +kubebuilder:validation:MaxItems=20
	Targets []BackupTarget `json:"targets,omitempty"`

	// suspend stops further backups. Those that were made are kept.
	// +optional
	// +kubebuilder:default=false
	Suspend *bool `json:"suspend,omitempty"`
}

// BackupPolicyStatus is what was observed, by the controller.
type BackupPolicyStatus struct {
	// observedGeneration is the generation of the spec that the rest of the status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// cronJobName is the name of the CronJob that makes the backups.
	// +optional
	CronJobName string `json:"cronJobName,omitempty"`

	// lastBackupTime is when the last backup was completed.
	// +optional
	LastBackupTime *metav1.Time `json:"lastBackupTime,omitempty"`

	// conditions are what the controller has to say, by type.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bp,categories=storage
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Retention",type=integer,JSONPath=`.spec.retentionDays`,description="Days that a backup is kept"
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Last Backup",type=date,JSONPath=`.status.lastBackupTime`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// BackupPolicy says which namespaces are backed up, when, and for how long a backup is kept.
type BackupPolicy struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is a standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is wanted.
	// +required
	Spec BackupPolicySpec `json:"spec"`

	// status is what was observed, by the controller.
	// +optional
	Status BackupPolicyStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackupPolicyList is a list of BackupPolicies.
type BackupPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []BackupPolicy `json:"items"`
}
